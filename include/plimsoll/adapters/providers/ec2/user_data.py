"""What a host is launched with: cloud-config, and the SSH keys that it must present and that may log in. Pure. JSON
is YAML, so nothing in cloud-config needs quoting of its own.

The host key is derived and never stored: its seed is an HMAC of the cluster's name under the SSH connection's private
key. So every process that may log in to the hosts knows their host key without asking. Nobody else can compute it, and
it reveals nothing about the private key. The host key is stored only in the hosts' user data.
"""

import hashlib
import hmac
import json
import struct
from base64 import encodebytes
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from typing import Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from plimsoll.adapters.providers.ec2.instance_types import InstanceStore
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.ports.secrets import SshIdentity

PREPARE = "/usr/local/sbin/plimsoll-prepare"
PROLONG = "/usr/local/sbin/plimsoll-prolong"
"""The command that moves the end of a kept host to a time in the form `TIME`."""
TIME = "%Y-%m-%d %H:%M:%S UTC"
PREPARED = "prepared"
"""The file below a host's root that says `ok` once the host is ready, or what went wrong."""

# As Cassandra recommends for production
LIMITS = {"memlock": "unlimited", "nofile": "1048576", "nproc": "32768", "as": "unlimited"}
"""The limits of a login: locked memory, open files, processes, address space."""
KERNEL = {"vm.max_map_count": 1048575, "vm.swappiness": 0, "vm.zone_reclaim_mode": 0}
_HUGE_PAGE = 2 << 20
"""Bytes of a huge page where pages have 4 KiB, as on x86-64."""
_TIMER = "plimsoll-expiry"
_PURPOSE = "plimsoll ssh host key 1"
_KIND = b"ssh-ed25519"


@dataclass(frozen=True)
class HostKeyPair:
    """`public` is a line such as `ssh-ed25519 AAAA…`; `private` the OpenSSH text."""

    public: str
    private: str = field(repr=False)


def host_key(identity: SshIdentity, cluster_id: ClusterId) -> HostKeyPair:
    """Return the Ed25519 host key of all hosts of that cluster. The text is the same every time."""
    secret = identity.private_key.strip().encode()
    seed = hmac.new(secret, f"{_PURPOSE}\n{cluster_id}".encode(), hashlib.sha256).digest()
    public = Ed25519PrivateKey.from_private_bytes(seed).public_key()
    line = public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    return HostKeyPair(line, _openssh(seed, public.public_bytes(Encoding.Raw, PublicFormat.Raw)))


def _openssh(seed: bytes, public: bytes) -> str:
    """Return the key in the format `openssh-key-v1`, unencrypted.

    Libraries put a random number into this format. A repeated request for hosts must be equal in every byte, otherwise
    AWS takes it for another request.
    """
    # The format has a number twice, by which a reader sees that the decryption worked. It is usually a random one.
    check = hashlib.sha256(seed).digest()[:4]
    secret = check + check + _strings(_KIND, public, seed + public, b"")
    # The format fills blocks of 8 bytes up with 1, 2, 3, …
    secret += bytes(range(1, 1 + -len(secret) % 8))
    named = _strings(_KIND, public)
    blob = b"openssh-key-v1\0" + _strings(b"none", b"none", b"") + struct.pack(">I", 1) + _strings(named, secret)
    return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{encodebytes(blob).decode()}-----END OPENSSH PRIVATE KEY-----\n"


def _strings(*parts: bytes) -> bytes:
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)


@dataclass(frozen=True)
class HostSetup:
    """The setup of a new instance. `authorized` is a line of `authorized_keys`.

    `disks` must be there for the host to be prepared. `is_kept`: a user who logs in may move the instance's end with
    sudo, which allows nothing else.
    """

    user: str
    root: str
    host_key: HostKeyPair
    authorized: str
    ends_at: datetime
    transparent_huge_pages: Literal["always", "madvise", "never"]
    readahead_kib: int
    huge_pages: int = 0
    is_kept: bool = False
    disks: InstanceStore = field(default_factory=InstanceStore)


def cloud_config(setup: HostSetup) -> str:
    """Return the document for cloud-init. Equal setups give equal bytes."""
    document = {
        # No key but the expected one, and no way in but the authorised one.
        "ssh_deletekeys": True,
        "ssh_genkeytypes": [],
        "ssh_keys": {"ed25519_private": setup.host_key.private, "ed25519_public": setup.host_key.public},
        "ssh_pwauth": False,
        "disable_root": True,
        "users": [
            {
                "name": setup.user,
                "shell": "/bin/sh",
                "lock_passwd": True,
                "ssh_authorized_keys": [setup.authorized],
                **({"sudo": f"ALL=(root) NOPASSWD: {PROLONG}"} if setup.is_kept else {}),
            }
        ],
        "write_files": list(_files(setup)),
        # The dead man's switch comes first: whatever fails later, the host ends.
        "runcmd": [
            ["systemctl", "daemon-reload"],
            ["systemctl", "enable", "--now", f"{_TIMER}.timer"],
            [
                *(PREPARE, setup.user, setup.root, str(setup.readahead_kib), setup.transparent_huge_pages),
                *(str(setup.disks.count), " ".join(setup.disks.letters), str(setup.disks.gigabytes)),
            ],
        ],
        # Nothing else is to use CPU, disk or network while a cell is measured.
        "package_update": False,
        "package_upgrade": False,
    }
    return f"#cloud-config\n{json.dumps(document, indent=1, sort_keys=True)}\n"


def kernel_parameters(huge_pages: int) -> dict[str, int]:
    """Return the kernel's parameters of a host whose processes may take so many bytes of huge pages.

    The kernel makes these pages when a process asks for them, and sets none aside: page cache and other heaps keep the
    memory on the hosts of all other variants.
    """
    pages = {"vm.nr_overcommit_hugepages": huge_pages // _HUGE_PAGE} if huge_pages else {}
    return {**KERNEL, **pages}


def _files(setup: HostSetup) -> tuple[dict[str, str], ...]:
    scripts = {PREPARE: "prepare.sh", **({PROLONG: "prolong.sh"} if setup.is_kept else {})}
    limits = "".join(f"* - {name} {value}\n" for name, value in LIMITS.items())
    kernel = "".join(f"{name} = {value}\n" for name, value in kernel_parameters(setup.huge_pages).items())
    return (
        *(_file(path, files(__package__).joinpath(name).read_text("utf-8"), "0755") for path, name in scripts.items()),
        _file(f"/etc/systemd/system/{_TIMER}.service", _SERVICE),
        _file(f"/etc/systemd/system/{_TIMER}.timer", _timer(setup.ends_at)),
        _file("/etc/security/limits.d/plimsoll.conf", limits),
        _file("/etc/sysctl.d/90-plimsoll.conf", kernel),
    )


def _file(path: str, content: str, permissions: str = "0644") -> dict[str, str]:
    return {"path": path, "content": content, "owner": "root:root", "permissions": permissions}


# Shutdown means terminate: the instance is launched so.
_SERVICE = """[Unit]
Description=The time of this host's cell is over
[Service]
Type=oneshot
ExecStart=/usr/sbin/shutdown -h now
"""


def _timer(ends_at: datetime) -> str:
    """Return a timer for an absolute time, which also fires after a reboot if the time has passed."""
    at = ends_at.astimezone(UTC).strftime(TIME)
    # AccuracySec, because systemd lets a timer be up to a minute late by default
    return f"""[Unit]
Description=Dead man's switch
[Timer]
OnCalendar={at}
Persistent=true
AccuracySec=1s
[Install]
WantedBy=timers.target
"""
