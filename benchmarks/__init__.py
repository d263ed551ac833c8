"""Measurements. Each is a program of its own: `python -m benchmarks.<name>`.

Interrupting or terminating one also ends everything that it has started.
"""

import signal

# A program that is started in the background ignores SIGINT by default.
for _number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(_number, signal.default_int_handler)
