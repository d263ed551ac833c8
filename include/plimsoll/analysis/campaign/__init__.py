"""A whole campaign: capacities, statistics, noise, and comparisons."""
