"""The life of a cell: what each of its steps does, and the records of it."""
