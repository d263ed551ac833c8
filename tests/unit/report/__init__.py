"""A package to pytest: one process runs its tests, which share a report that takes seconds to draw."""
