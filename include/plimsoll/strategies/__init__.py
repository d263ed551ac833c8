"""Strategies: pure functions of a definition and of what is known so far, that say which cells to run next."""
