"""A database that somebody else runs: where it is, what it tells of itself, and what a load makes there."""
