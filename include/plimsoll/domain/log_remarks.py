"""Words of remarks on the logs of load generators, by which other modules recognise a remark."""

COORDINATED_OMISSION = "(coordinated omission)"
"""The end of remarks on logs whose times do not count from the intended start of operations, or may not."""
