"""Words, numbers and errors for people, and what all models have alike."""
