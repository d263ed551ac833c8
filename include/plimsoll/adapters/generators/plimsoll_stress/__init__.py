"""Plimsoll's own load generator."""

from plimsoll.adapters.generators.plimsoll_stress.adapter import PlimsollStress

__all__ = ["PlimsollStress"]
