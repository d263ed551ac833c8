"""Sessions and clients of AWS's API."""
