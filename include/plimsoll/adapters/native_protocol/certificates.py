"""What is wrong with a certificate, in words, and whose it is to mend. Pure."""

import ssl

from plimsoll.ports.secrets import AccessNames, DatabaseAccess

# OpenSSL's numbers, of `openssl verify`.
_NOT_YET, _EXPIRED, _REVOKED, _OTHER_HOSTS = (9,), (10,), (23,), (62, 64)
_ALERT = "ALERT"
"""Stands in what OpenSSL says of a connection that the other side has ended."""


def untrusted(error: ssl.SSLCertVerificationError, names: AccessNames) -> tuple[str, str]:
    """Return why a node's certificate is refused, and how to mend it."""
    said = error.verify_message.rstrip(".")
    if error.verify_code in _OTHER_HOSTS:
        mend = "write a contact point that the certificate names in its SAN, or have one made whose SAN names this one"
        return f"its certificate is of another host: {said}", mend
    if error.verify_code in _EXPIRED:
        return f"its certificate can't be used: {said}", "renew the node's certificate, or its authority's"
    if error.verify_code in _NOT_YET:
        return f"its certificate can't be used: {said}", "set the clocks of the node and of this machine"
    if error.verify_code in _REVOKED:
        return f"its certificate can't be used: {said}", "have a new certificate made for the node"
    mend = f"put the certificate of the authority that signs the nodes' into {names.authority}"
    return f"its certificate is not trusted: {said}", mend


def rejected(reason: str, access: DatabaseAccess) -> tuple[str, str] | None:
    """Return what a node has against the client's certificate, and how to mend it; None if it is something else."""
    said, place = reason.upper().replace(" ", "_"), access.names.certificate
    if _ALERT not in said or ("CERTIFICATE" not in said and "UNKNOWN_CA" not in said):
        return None
    if not access.certificate:
        return "asks for a client certificate", f"give {place}"
    if "EXPIRED" in said:
        return "says that the client's certificate has expired", f"renew {place}"
    return f"refuses the client's certificate: {reason}", f"let an authority that the nodes trust sign {place}"
