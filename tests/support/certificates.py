"""Certificates for tests: an authority, and what it signs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID


@dataclass
class Authority:
    """Signs certificates that end so many days from now; its own ends in a day."""

    name: str
    days: int = 1
    _key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def __post_init__(self) -> None:
        self.certificate = self._signed(self.name, self._key, x509.BasicConstraints(ca=True, path_length=0))

    @property
    def pem(self) -> str:
        return _pem(self.certificate)

    def issue(self, name: str, addresses: Sequence[str] | None) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
        """Return a certificate for whoever is reached at these addresses, else by the name, with its key. None: nobody
        is named but in its subject.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        if addresses is None:
            return self._signed(name, key, None), key
        names: list[x509.GeneralName] = [x509.IPAddress(ip_address(address)) for address in addresses] or [
            x509.DNSName(name)
        ]
        return self._signed(name, key, x509.SubjectAlternativeName(names)), key

    def sign(self, name: str, addresses: Sequence[str] | None) -> tuple[str, str]:
        """Return the same in PEM."""
        certificate, key = self.issue(name, addresses)
        return _pem(certificate), _key_pem(key)

    def _signed(
        self, name: str, key: ec.EllipticCurvePrivateKey, extension: x509.ExtensionType | None
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        is_authority = isinstance(extension, x509.BasicConstraints)
        builder = (
            x509.CertificateBuilder()
            .subject_name(_named(name))
            .issuer_name(_named(self.name))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=2))
            .not_valid_after(now + timedelta(days=1 if is_authority else self.days))
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(_usage(is_authority=is_authority), critical=True)
        )
        named = builder.add_extension(extension, critical=is_authority) if extension else builder
        return named.sign(self._key, hashes.SHA256())


def write_stores(folder: Path, authority: Authority, addresses: Sequence[str], password: str) -> None:
    """Write what nodes at these addresses need: `nodes.p12`, and `trusted.p12` with the authority of their clients."""
    certificate, key = authority.issue("nodes", addresses)
    locked = serialization.BestAvailableEncryption(password.encode())
    own = pkcs12.serialize_key_and_certificates(b"nodes", key, certificate, [authority.certificate], locked)
    (folder / "nodes.p12").write_bytes(own)
    trusted = [pkcs12.PKCS12Certificate(authority.certificate, b"authority")]
    (folder / "trusted.p12").write_bytes(pkcs12.serialize_java_truststore(trusted, locked))


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _usage(*, is_authority: bool) -> x509.KeyUsage:
    off = dict.fromkeys(
        ("content_commitment", "data_encipherment", "key_agreement", "encipher_only", "decipher_only"), False
    )
    return x509.KeyUsage(
        digital_signature=True, key_encipherment=False, key_cert_sign=is_authority, crl_sign=is_authority, **off
    )


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _key_pem(key: ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
