"""Measurements, each a program of its own: `python -m benchmarks.<name>`.

Whoever interrupts or terminates one ends everything that it has started.
"""

import signal

# A program started in the background has Ctrl-C ignored.
for _number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(_number, signal.default_int_handler)
