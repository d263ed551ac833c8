"""What the load generators that speak CQL have in common: its words, tables and statements, checked without a
database.

Only the database knows CQL. What is not recognized here passes, and is refused, if at all, when it is prepared.
"""
