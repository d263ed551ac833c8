"""The state of a campaign, read from the store: its attempts, what is missing, and the runs that work at it."""
