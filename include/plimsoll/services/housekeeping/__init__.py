"""Housekeeping of the store: whether every file is as it was recorded, and how much room campaigns take."""
