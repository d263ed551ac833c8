"""Load generators, a folder each, and what they have in common."""
