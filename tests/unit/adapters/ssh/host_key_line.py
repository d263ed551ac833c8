"""A host key as a text."""

LINE = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKjl0ff5RVgKiZp7sHmzRr3GdCoR6sJVq6YvXhVlYqYs host"
"""Of a host that never was, made for tests."""
