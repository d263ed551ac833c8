"""Plimsoll: how much load a database carries while it keeps its service level."""

from importlib.metadata import version

__version__ = version("plimsoll")
