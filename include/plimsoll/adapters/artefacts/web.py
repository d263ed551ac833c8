"""Download from addresses in definitions, whose authors must not reach services of this machine's network by them, and
run the programs of registries and JDKs.

Where a certificate is refused, as behind a company's proxy that opens what passes through it, the error says so.
"""

import os
import re
import socket
import subprocess
import tempfile
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from plimsoll.domain.text.errors import ArtefactError, UntrustedServer

if TYPE_CHECKING:
    import httpx

_REDIRECTS = 5
_OF_THE_HOST = (ip_network("169.254.0.0/16"), ip_network("fe80::/10"), ip_network("fd00:ec2::/32"))
"""Link-local addresses, at which clouds hand out a machine's credentials, and those of AWS for the same over IPv6."""
_MEND = "name the address at which the archive itself lies"

PIP, MAVEN, ARCHIVES, S3 = "PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "AWS_CA_BUNDLE"
"""Who downloads → the environment variable that names the file of authorities which it trusts."""

_OTHERS = {PIP: "pip", MAVEN: "the Maven repository's jars", ARCHIVES: "archives in definitions"}
_REFUSAL = re.compile(r"certificate verify failed(?:: ([^()\n]+))?")


def web_blocks(url: str, timeout_s: float) -> Generator[bytes]:
    """Yield the content at that address, as it arrives. After a redirect only https is followed.

    Raises httpx.HTTPError for what another try may mend, ArtefactError for anything else.
    """
    import httpx

    wanted = url
    for _ in range(_REDIRECTS + 1):
        _require_foreign(_addresses(wanted, url), url)
        with httpx.stream("GET", wanted, timeout=timeout_s) as answer:
            _require_foreign(_peer(answer), url)  # a name may have had another address a moment ago
            if answer.next_request is None:
                if not answer.is_success:  # without the address, which may be signed after a redirect
                    raise httpx.TransportError(f"the server answers {answer.status_code}")
                yield from answer.iter_bytes()
                return
            wanted = str(answer.next_request.url)
        if urlsplit(wanted).scheme != "https":
            raise ArtefactError("it redirects to an address without https", where=url, mend=_MEND)
    raise ArtefactError(f"it redirects more than {_REDIRECTS} times", where=url, mend=_MEND)


def _addresses(wanted: str, url: str) -> list[str]:
    """Return the addresses of its host; none where only a proxy knows them. ArtefactError at `url` for a wrong port."""
    parts = urlsplit(wanted)
    try:
        port = parts.port or 443
    except ValueError as error:
        raise ArtefactError(f"it leads to no address: {error}", where=url, mend=_MEND) from error
    try:
        entries = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [str(entry[4][0]) for entry in entries]


def _peer(answer: "httpx.Response") -> list[str]:
    stream = answer.extensions.get("network_stream")
    address = stream.get_extra_info("server_addr") if stream is not None else None
    return [str(address[0])] if address else []


def _require_foreign(addresses: list[str], url: str) -> None:
    for text in addresses:
        address = ip_address(text.partition("%")[0])
        # ::ffff:169.254.169.254 leads to the same service as 169.254.169.254
        address = getattr(address, "ipv4_mapped", None) or address
        if any(address in network for network in _OF_THE_HOST):
            raise ArtefactError("it leads to a link-local address, where no archive lies", where=url, mend=_MEND)


def is_refused(error: object) -> bool:
    """Tell whether an error, or what a program printed, is about a certificate that is refused."""
    return _REFUSAL.search(str(error)) is not None


def require_authorities(where: str, variable: str) -> None:
    """Raise UntrustedServer where that variable names a file that is not there: nothing could be trusted."""
    path = os.environ.get(variable)
    if path and not Path(path).exists():
        what = f"{variable} names {path}, which is not there"
        raise UntrustedServer(what, where=where, mend=f"correct {variable}, or `unset {variable}`, then run it again")


def untrusted(where: str, variable: str, error: object) -> UntrustedServer:
    """Return the error about such a server; `variable`: the one that this downloader reads; `error`: what it told."""
    match = _REFUSAL.search(str(error))
    reason = match[1].strip() if match and match[1] else "nobody who is trusted here signed it"
    others = ", ".join(f"{name} of {who}" for name, who in _OTHERS.items() if name != variable)
    return UntrustedServer(
        f"the server's certificate is refused: {reason}",
        where=where,
        mend=f"behind a company's proxy, set {variable} to the file with its authority's certificate (PEM), as in "
        f"`export {variable}=/path/to/ca.pem`, and for what comes later {others}; then run it again: what was "
        "fetched is kept",
    )


_JAVA_TIMEOUT_S = 120
# These JVMs live for a second or two: optimising their code would take longer than it saves.
_SHORT_LIVED = ("-XX:TieredStopAtLevel=1",)
# What a JVM gets of this process's environment: neither a user's options for every JVM nor a secret. The language is
# for the names of files.
_INHERITED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE")


@dataclass(frozen=True)
class Ended:
    """The exit code of a program, and the text of both its output streams."""

    exit_code: int
    output: str


def plain_environment() -> dict[str, str]:
    """Return the environment of this process, with English as the language of programs."""
    return {**os.environ, "LC_ALL": "C"}


def run(argv: Sequence[str], *, timeout_s: int, env: Mapping[str, str], cwd: Path | None = None) -> Ended:
    """Run a program. Raises ArtefactError where it can't be started or does not end in time."""
    try:
        done = subprocess.run(
            argv,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            text=True,
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        what, mend = f"did not end within {timeout_s} s", "see what else this machine does, then run it again"
        raise ArtefactError(what, where=argv[0], mend=mend) from error
    except OSError as error:
        mend = "check that this program is for this machine's processor and system"
        raise ArtefactError(f"can't be run: {error}", where=argv[0], mend=mend) from error
    return Ended(done.returncode, done.stdout.strip())


def run_java(java: Path, *arguments: str, timeout_s: int = _JAVA_TIMEOUT_S) -> Ended:
    """Run a JVM in an empty folder with these arguments and hardly an environment, without the user's own options.

    Raises ArtefactError where it does not end in time.
    """
    env = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    with tempfile.TemporaryDirectory(prefix="plimsoll-java-") as empty:
        return run([str(java.absolute()), *_SHORT_LIVED, *arguments], timeout_s=timeout_s, env=env, cwd=Path(empty))


def ask_java(java: Path, *arguments: str) -> str:
    """Return the output of a JVM. Raises ArtefactError when it fails."""
    ended = run_java(java, *arguments)
    if ended.exit_code != 0:
        what = f"`java {' '.join(arguments)}` ended with exit code {ended.exit_code}: {ended.output}"
        mend = "check that this runtime is for this machine's processor and system"
        raise ArtefactError(what, where=str(java), mend=mend)
    return ended.output
