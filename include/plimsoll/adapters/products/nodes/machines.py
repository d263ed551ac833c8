"""Nodes that share a machine, and addresses that only their own machine reaches."""

import re
from collections.abc import Sequence
from ipaddress import ip_address

from plimsoll.ports.host import Host


def by_machine(nodes: Sequence[Host]) -> dict[str, list[Host]]:
    """Return the nodes by machine, in order. All nodes of the local provider are on one machine."""
    machines: dict[str, list[Host]] = {}
    for node in nodes:
        machines.setdefault(node.info.facts.get("machine", node.info.name), []).append(node)
    return machines


def with_names(text: str, nodes: Sequence[Host]) -> str:
    """Return what a program on the nodes' machine tells, with a node's name in place of 127.0.0.1, which names none
    elsewhere.
    """
    for node in nodes:
        if (own := own_loopback(node.info.address)) != node.info.address:
            text = re.sub(rf"(?<![\d.]){re.escape(own)}(:\d+)?(?![\d.])", node.info.name, text)
    return text


def own_loopback(address: str) -> str:
    """Return the address of services that are open to a node's own machine alone, such as JMX, which is not encrypted
    here.

    Nodes on one machine have different loopback addresses, so all of them can use the same port.
    """
    return address if ip_address(address).is_loopback else "127.0.0.1"
