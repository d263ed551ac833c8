"""Words of remarks on the logs of load generators, by which others know the remark again."""

COORDINATED_OMISSION = "(coordinated omission)"
"""The end of remarks on logs whose times do not count from the intended start of operations, or may not."""
