"""Servers whose certificate is refused, as behind a company's proxy that opens what passes through it."""

import os
import re
from pathlib import Path

from plimsoll.domain.errors import UntrustedServer

PIP, MAVEN, ARCHIVES, S3 = "PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "AWS_CA_BUNDLE"
"""Who downloads → the environment variable that names the file of authorities which it trusts."""
_OTHERS = {PIP: "pip", MAVEN: "the Maven repository's jars", ARCHIVES: "archives in definitions"}
_REFUSAL = re.compile(r"certificate verify failed(?:: ([^()\n]+))?")


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
    found = _REFUSAL.search(str(error))
    reason = found[1].strip() if found and found[1] else "nobody who is trusted here signed it"
    others = ", ".join(f"{name} of {who}" for name, who in _OTHERS.items() if name != variable)
    return UntrustedServer(
        f"the server's certificate is refused: {reason}",
        where=where,
        mend=f"behind a company's proxy, set {variable} to the file with its authority's certificate (PEM), as in "
        f"`export {variable}=/path/to/ca.pem`, and for what comes later {others}; then run it again: what was "
        "fetched is kept",
    )
