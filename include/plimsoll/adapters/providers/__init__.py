"""Providers of hosts, a folder each."""
