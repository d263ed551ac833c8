"""Two campaigns side by side: compared, part by part, and as tables."""
