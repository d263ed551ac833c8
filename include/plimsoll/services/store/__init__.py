"""The result store: the keys of its files, and typed access to a campaign in it."""
