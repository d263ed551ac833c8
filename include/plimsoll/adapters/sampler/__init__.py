"""Samples of a host's activity while a cell runs."""

from plimsoll.adapters.sampler.adapter import ProcSampler

__all__ = ["ProcSampler"]
