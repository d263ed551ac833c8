"""The ssh command, as a person uses it."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes import PATIENCE_S


@dataclass(frozen=True)
class Ssh:
    """The ssh command with a key and the host key that is expected."""

    key: Path
    known_hosts: Path

    @property
    def public(self) -> str:
        """Return the public key for `authorized_keys`."""
        return self.key.with_suffix(".pub").read_text().strip()

    def trust(self, address: str, host_key: str) -> None:
        """Expect that key there, and no other."""
        with self.known_hosts.open("a") as file:
            file.write(f"{address} {' '.join(host_key.split()[:2])}\n")

    def run(
        self, address: str, command: str, *, user: str = "ec2-user", port: int = 22, timeout: int = 60
    ) -> "subprocess.CompletedProcess[str]":
        """Exit code 255: ssh itself failed."""
        options = (
            "StrictHostKeyChecking=yes",
            f"UserKnownHostsFile={self.known_hosts}",
            "BatchMode=yes",
            f"Port={port}",
            f"ConnectTimeout={timeout}",
        )
        argv = [
            "ssh",
            "-F",
            "none",
            "-i",
            str(self.key),
            *(part for each in options for part in ("-o", each)),
            f"{user}@{address}",
            command,
        ]
        return subprocess.run(
            argv, capture_output=True, text=True, timeout=PATIENCE_S, check=False, stdin=subprocess.DEVNULL
        )


def keygen(place: Path) -> Path:
    """Return a key pair at that place."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(place)], check=True)
    return place
