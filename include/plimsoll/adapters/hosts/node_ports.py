"""The TCP ports of a cluster's database nodes, which every node has at an address of its own."""

STORAGE_PORT = 7000
"""Between nodes."""
NATIVE_PORT = 9042
"""For clients."""
PORTS = (STORAGE_PORT, NATIVE_PORT)
