"""Samples of a host's activity while a cell runs."""

from plimsoll.adapters.hosts.sampler.adapter import ProcSampler

__all__ = ["ProcSampler"]
