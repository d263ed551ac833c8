"""What is read from hosts and done on them, whichever provider they come from."""
