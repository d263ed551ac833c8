"""Clusters on Amazon EC2."""

from plimsoll.adapters.providers.ec2.prices import Ec2Tariffs
from plimsoll.adapters.providers.ec2.provider import Ec2Provider, over_ssh

__all__ = ["Ec2Provider", "Ec2Tariffs", "over_ssh"]
