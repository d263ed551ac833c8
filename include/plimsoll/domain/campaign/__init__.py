"""A campaign as it is run: what a definition is resolved into, and its cells."""
