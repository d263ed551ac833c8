"""The report's charts: Vega-Lite specifications through Altair, and their pictures."""
