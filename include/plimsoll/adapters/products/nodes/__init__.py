"""What products have in common: JVMs and their flags, waiting for processes, asking them, and reading their logs."""
