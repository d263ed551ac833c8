"""A real OpenSSH server as a process of a test, on a loopback address, with keys and files of its own."""

import getpass
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from tests.support.suite.requirements import leave_out

from plimsoll.adapters.providers.ssh import Target
from plimsoll.domain.text.errors import SecretError
from plimsoll.ports.secrets import AwsAccess, SshIdentity

SSHD = Path("/usr/sbin/sshd")
CONNECTION = "bench"
_PATIENCE_S = 120


@dataclass(frozen=True)
class KeyPair:
    """A key pair made for a test."""

    private: str
    public: str


def make_key(folder: Path, name: str, kind: str = "ed25519") -> KeyPair:
    """Return a new key pair, which is also written to the files `name` and `name.pub` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    size = ["-b", "2048"] if kind == "rsa" else []  # the usual 3072 bits take seconds of processor time to find
    subprocess.run(["ssh-keygen", "-q", "-t", kind, *size, "-N", "", "-C", name, "-f", folder / name], check=True)
    return KeyPair((folder / name).read_text(), (folder / f"{name}.pub").read_text())


@dataclass(frozen=True)
class OneKey:
    """Implements the Secrets port with one private key for every connection."""

    private: str = field(repr=False)
    user: str = field(default_factory=getpass.getuser)

    def ssh_identity(self, connection_id: str) -> SshIdentity:
        """Return the key."""
        return SshIdentity(self.user, self.private)

    def aws(self, connection_id: str) -> AwsAccess:
        """Raise SecretError, because there is no account."""
        raise SecretError("there is no account here")


@dataclass
class Sshd:
    """An OpenSSH server. `folder` holds its files."""

    folder: Path
    address: str
    port: int
    host_key: str
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def log(self) -> str:
        """Return the server's whole log."""
        return (self.folder / "log").read_text()

    @property
    def config(self) -> Path:
        """Return the server's configuration. Changes take effect with the next `start`."""
        return self.folder / "sshd_config"

    def target(self, *, host_key: str = "", user: str = "") -> Target:
        """Return the address, key and user with which the server is reached."""
        return Target(self.address, host_key or self.host_key, CONNECTION, self.port, user)

    def start(self) -> None:
        """Start the server, and wait until it listens."""
        if not SSHD.exists():
            leave_out("needs a real sshd: install openssh-server")
        with (self.folder / "log").open("ab") as log:
            argv = [str(SSHD), "-D", "-e", "-f", str(self.config)]
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + _PATIENCE_S
        while not self._listens():
            assert self.process.poll() is None, f"sshd ended: {self.log}"
            assert time.monotonic() < deadline, f"sshd does not listen: {self.log}"
            time.sleep(0.01)

    def sessions(self) -> list[psutil.Process]:
        """Return the processes that serve connections."""
        assert self.process is not None
        with suppress(psutil.NoSuchProcess):
            every = psutil.Process(self.process.pid).children(recursive=True)
            return [process for process in every if _name(process) == "sshd"]
        return []

    def cut(self) -> None:
        """End all connections at once, as if the server had died. It goes on listening."""
        _end(self.sessions())

    def freeze(self) -> None:
        """Stop the processes of all connections, which stay open and do not answer any more."""
        for process in self.sessions():
            process.send_signal(signal.SIGSTOP)

    def stop(self) -> None:
        """End the server and all its connections."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGSTOP)  # so that clients can't connect again meanwhile
        _end(self.sessions())
        self.process.kill()
        self.process.wait()
        self.process = None

    def _listens(self) -> bool:
        with suppress(OSError), socket.create_connection((self.address, self.port), timeout=1):
            return True
        return False


@contextmanager
def running_sshd(
    folder: Path,
    authorized: Sequence[str],
    *,
    address: str = "127.0.0.1",
    python: Path | None = None,
    environment: Mapping[str, str] | None = None,
    host_key_kind: str = "ed25519",
    others: bool = False,
) -> Iterator[Sshd]:
    """Provide a server on which the current user can log in with these public keys.

    While it is down its port stays its own.

    `others`: whether other users may, too, as those of whom the system keeps no password.

    `python` is the `python3` of users who log in, by default this process's. `environment` has further variables for
    them.
    """
    host_key = make_key(folder, "host_key", host_key_kind).public
    (folder / "authorized_keys").write_text("".join(authorized))
    programs, home = folder / "bin", folder / "home"
    programs.mkdir()
    home.mkdir()
    (programs / "python3").symlink_to(python or Path(sys.executable).resolve())
    # They get a home of their own, so that start-up files of this user's shell do not affect the test.
    given = {"PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin", "HOME": str(home), **(environment or {})}
    if os.geteuid() == 0:  # sshd requires this folder, even if it does not use it
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    with _reserved_port(address) as port:
        server = Sshd(folder, address, port, " ".join(host_key.split()[:2]))
        server.config.write_text(_configuration(server, given, others=others))
        try:
            server.start()
            yield server
        finally:
            server.stop()


def _configuration(server: Sshd, environment: Mapping[str, str], *, others: bool) -> str:
    given = " ".join(shlex.quote(f"{name}={value}") for name, value in environment.items())
    return f"""
ListenAddress {server.address}:{server.port}
HostKey {server.folder}/host_key
AuthorizedKeysFile {server.folder}/authorized_keys
PidFile none
UsePAM {"yes" if others else "no"}
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PermitUserEnvironment no
PrintMotd no
MaxStartups 100
LogLevel VERBOSE
Subsystem sftp internal-sftp
SetEnv {given}
"""


@contextmanager
def _reserved_port(address: str) -> Iterator[int]:
    """Provide a port that the kernel gives to nobody else inside the block. sshd can listen on it, as it sets
    SO_REUSEADDR.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind((address, 0))
        port: int = holder.getsockname()[1]
        yield port


def _end(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    while any(_runs(process) for process in processes):
        time.sleep(0.01)


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""
