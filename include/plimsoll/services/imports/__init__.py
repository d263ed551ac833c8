"""Runs of other people's load generators, brought into a campaign of the store."""
