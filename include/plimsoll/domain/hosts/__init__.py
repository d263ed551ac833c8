"""Hosts: clusters of them, whose they are, what runs on them, and what they cost."""
