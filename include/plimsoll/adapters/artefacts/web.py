"""Download from addresses in definitions, whose authors must not reach services of this machine's network by them."""

import socket
from collections.abc import Generator
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from plimsoll.domain.errors import ArtefactError

if TYPE_CHECKING:
    import httpx

_REDIRECTS = 5
_OF_THE_HOST = (ip_network("169.254.0.0/16"), ip_network("fe80::/10"), ip_network("fd00:ec2::/32"))
"""Link-local addresses, at which clouds hand out a machine's credentials, and those of AWS for the same over IPv6."""
_MEND = "name the address at which the archive itself lies"


def web_blocks(url: str, timeout_s: float) -> Generator[bytes]:
    """Yield the content at that address, as it arrives. After a redirect only https is followed.

    Raises httpx.HTTPError for what another try may mend, ArtefactError for anything else.
    """
    import httpx

    wanted = url
    for _ in range(_REDIRECTS + 1):
        _require_foreign(_addresses(wanted), url)
        with httpx.stream("GET", wanted, timeout=timeout_s) as answer:
            _require_foreign(_peer(answer), url)  # a name may have had another address a moment ago
            if answer.next_request is None:
                yield from _content(answer)
                return
            wanted = str(answer.next_request.url)
        if urlsplit(wanted).scheme != "https":
            raise ArtefactError("it redirects to an address without https", where=url, mend=_MEND)
    raise ArtefactError(f"it redirects more than {_REDIRECTS} times", where=url, mend=_MEND)


def _content(answer: "httpx.Response") -> Generator[bytes]:
    """Yield the blocks of a successful answer.

    The error lacks the address: after a redirect it may contain a signature.
    """
    import httpx

    if not answer.is_success:
        raise httpx.TransportError(f"the server answers {answer.status_code}")
    yield from answer.iter_bytes()


def _addresses(url: str) -> list[str]:
    """Return the addresses of its host; none where only a proxy knows them."""
    parts = urlsplit(url)
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [str(entry[4][0]) for entry in found]


def _peer(answer: "httpx.Response") -> list[str]:
    stream = answer.extensions.get("network_stream")
    address = stream.get_extra_info("server_addr") if stream is not None else None
    return [str(address[0])] if address else []


def _require_foreign(addresses: list[str], url: str) -> None:
    for text in addresses:
        address = ip_address(text.partition("%")[0])
        address = getattr(address, "ipv4_mapped", None) or address
        if any(address in network for network in _OF_THE_HOST):
            raise ArtefactError("it leads to a link-local address, where no archive lies", where=url, mend=_MEND)
