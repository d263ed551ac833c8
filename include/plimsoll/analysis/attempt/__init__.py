"""One attempt: its intervals, its judgement, and what happened meanwhile."""
