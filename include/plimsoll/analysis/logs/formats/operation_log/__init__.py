"""Logs with a line for each operation: read in chunks, and counted second by second in bounded memory."""
