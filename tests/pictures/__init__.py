"""The documentation's pictures: made by one command, `make pictures`, and told stale by what they were made from."""
