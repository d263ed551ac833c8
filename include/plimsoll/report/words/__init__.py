"""What a report says of its findings, in sentences and tables of its own words. Statistics are the analysis'."""
