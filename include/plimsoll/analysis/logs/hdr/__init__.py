"""HdrHistogram interval logs: lines, encoded histograms, counts, percentiles."""
