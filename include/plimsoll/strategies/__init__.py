"""Strategies: pure functions that choose the cells to run next, from a definition and the results so far."""
