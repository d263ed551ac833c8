"""Definitions that people write: read within limits, checked with the line of each mistake, and written back."""
