"""Judgement: what an attempt left, what its verdict is, and how a whole campaign is judged again."""
