"""A whole definition, and what contradicts itself in it."""
