"""Tables of a report: as people read them (`table`), as numbers in files (`files`), and what their cells hold."""
