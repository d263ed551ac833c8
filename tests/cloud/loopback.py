"""Hosts as an ordinary user has them: an sshd on a loopback address of its own, and no view of their own.

Much less than namespaces: only the user who runs the cloud can log in, files of the user data go below the host's
folder, its commands are noted and not run, and there is no link to cut. Enough for SSH's own behaviour.
"""

import base64
import getpass
import ipaddress
import os
import shutil
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from tests.cloud.hosts import HostLog, HostMode, Machine
from tests.cloud.inside.sshd import sshd_answers
from tests.cloud.namespaces import Report
from tests.cloud.slots import MARK, Slot, processes

_FIRST_UNPRIVILEGED = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")
_SSHD = """\
Port {port}
ListenAddress {address}
HostKey {folder}/host_key
PidFile none
AuthorizedKeysFile {folder}/authorized_keys
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
SetEnv {mark}={folder}
Subsystem sftp internal-sftp
"""


class LoopbackHost:
    """One sshd."""

    def __init__(self, folder: Path, process: "subprocess.Popen[bytes]", log: HostLog) -> None:
        self.folder, self.log, self._process = folder, log, process

    def stop(self) -> None:
        """sshd, its sessions, the folder."""
        for process in processes(self.folder):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def freeze(self) -> None:
        """SIGSTOP for all."""
        self._send(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT for all."""
        self._send(signal.SIGCONT)

    def cut(self) -> None:
        """There is no link."""
        raise NotImplementedError("a loopback address can't be cut off; run the tests as root for that")

    heal = cut

    def skip(self, seconds: float) -> None:
        """There are no timers."""

    def path(self, inside: str) -> Path:
        """Return files of the user data."""
        return self.folder / "root" / inside.lstrip("/")

    def _send(self, number: int) -> None:
        for process in processes(self.folder):
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)


class LoopbackHosts:
    """Hosts on 127.200.0.0/15, port 22 where this user may have it."""

    mode: HostMode = "loopback"

    def __init__(self, slot: Slot, report: Report, share: tuple[Path, ...] = ()) -> None:
        self._slot, self._report = slot, report
        self._hosts: list[LoopbackHost] = []
        network = ipaddress.ip_network(f"127.{200 + slot.number // 16}.{slot.number % 16 * 16}.0/20")
        self.network, self.gateway = str(network), str(network.network_address + 1)
        first = int(_FIRST_UNPRIVILEGED.read_text(encoding="ascii")) if os.geteuid() else 0
        self.ssh_port = 22 if first <= 22 else 2222

    def start(self, machine: Machine) -> LoopbackHost:
        """Files, keys, sshd."""
        folder = self._slot.folder / machine.instance_id
        folder.mkdir()
        _write_files(machine, folder)
        _keys(machine, folder)
        config = folder / "sshd_config"
        text = _SSHD.format(port=self.ssh_port, address=machine.address, folder=folder, mark=MARK)
        config.write_text(text, encoding="utf-8")
        host = LoopbackHost(folder, _sshd(config, folder), HostLog())
        self._hosts.append(host)
        threading.Thread(target=self._boot, args=(host, machine), daemon=True).start()
        return host

    def close(self) -> None:
        """All hosts."""
        for host in self._hosts:
            host.stop()

    def _boot(self, host: LoopbackHost, machine: Machine) -> None:
        def tell(event: dict[str, Any]) -> None:
            host.log.events.append(event)
            self._report(machine.instance_id, event)

        for stage in ("bootcmd", "runcmd"):
            for command in machine.plan[stage]:
                tell({"event": "noted", "stage": stage, "command": command})
        if sshd_answers(machine.address, self.ssh_port):
            tell({"event": "ssh"})
            tell({"event": "booted", "ok": True})
        else:
            tell({"event": "failed", "what": "sshd does not answer"})


def _write_files(machine: Machine, folder: Path) -> None:
    for file in machine.plan["write_files"]:
        place = folder / "root" / file["path"].lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(base64.b64decode(file["content"]))
        place.chmod(file["mode"])


def _keys(machine: Machine, folder: Path) -> None:
    """Whoever the user data lets in, as the user who runs the cloud."""
    keys = [key for user in machine.plan["users"] for key in user["keys"]]
    (folder / "authorized_keys").write_text("".join(key.strip() + "\n" for key in keys), encoding="utf-8")
    pair = next(iter(machine.plan["host_keys"].values()), None)
    place = folder / "host_key"
    if pair is None:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place)], check=True)
        return
    place.touch(0o600)
    place.write_text(pair[0].rstrip("\n") + "\n", encoding="utf-8")


def _sshd(config: Path, folder: Path) -> "subprocess.Popen[bytes]":
    program = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    if program is None:
        raise RuntimeError("there is no sshd (Debian: openssh-server)")
    environment = {**os.environ, MARK: str(folder), "USER": getpass.getuser()}
    with (folder / "console").open("wb") as console:
        argv = [program, "-D", "-e", "-f", str(config)]
        return subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stderr=console, start_new_session=True)
