"""What products have in common whose nodes are single programs that speak CQL."""
