"""Databases that can be deployed, a folder each."""
