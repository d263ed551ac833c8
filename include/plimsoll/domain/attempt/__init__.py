"""What is recorded of an attempt and of its load."""
