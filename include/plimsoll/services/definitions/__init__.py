"""Definitions that people write: read within bounds, checked with the line of each mistake, and written back."""
