"""Other programs' logs: histograms, GC logs, and the formats of load generators."""
