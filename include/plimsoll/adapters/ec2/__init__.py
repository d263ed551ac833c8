"""Clusters on Amazon EC2."""

from plimsoll.adapters.ec2.prices import Ec2Tariffs
from plimsoll.adapters.ec2.provider import ROOT, Connect, Ec2Provider, Login

__all__ = ["ROOT", "Connect", "Ec2Provider", "Ec2Tariffs", "Login"]
