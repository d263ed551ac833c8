"""The receiver of lines about a long operation, for the people who follow it."""

from collections.abc import Callable

Log = Callable[[str], None]
