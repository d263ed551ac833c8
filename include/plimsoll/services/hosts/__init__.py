"""Hosts: which there are, who uses them, what they cost, and who ends those that nobody owns."""
