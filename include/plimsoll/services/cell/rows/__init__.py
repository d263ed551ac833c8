"""The rows that a load runs on: how many make a size on disk, and whose they are where loads share them."""
