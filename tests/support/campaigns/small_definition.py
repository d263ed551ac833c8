"""A small definition of two collectors and two loads, which tests change in many places. The demo may change."""

from pathlib import Path

SMALL = Path(__file__).parents[2] / "samples" / "definition.yaml"
