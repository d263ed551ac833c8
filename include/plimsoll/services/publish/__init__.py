"""Publication: the gate, the report, its bundle, and a report that is made again from a bundle."""
