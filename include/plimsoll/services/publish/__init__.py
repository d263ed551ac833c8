"""Publication: the quality gate, the report, its bundle, and reports made again from bundles."""
