"""What can be written in a definition, key by key."""
