"""A campaign as a whole: what a run is asked for, what it will run, and who works at it."""
