"""Judging: read an attempt's files, decide its verdict, and judge a whole campaign again."""
