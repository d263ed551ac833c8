"""Hosts in namespaces of their own: network, processes, mounts, name. Needs root.

A host has no name in the machine's registries (no `ip netns`, no mount outside): when its process 1 ends, the kernel
takes away everything. That happens at the latest when the cloud's process ends, for process 1 reads from it.
"""

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from tests.cloud.hosts import HostLog, HostMode, Machine
from tests.cloud.slots import MARK, Slot

_CHECKOUT = Path(__file__).parents[2]
_UNSHARE = ("unshare", "--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child=SIGKILL")
_PROGRAMS = ("ip", "unshare", "sshd", "ssh-keygen", "useradd", "findmnt")
_TIMEOUT_S = 60.0
# Links and bridges of all slots.
_LET_PASS = "-A FORWARD -i plc+ -o plc+ -j ACCEPT"
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

Report = Callable[[str, dict[str, Any]], None]
"""Called with the instance's id and each event of its host, from a thread of its own."""


def obstacle() -> str:
    """Explain why this machine can't have hosts in namespaces; empty where it can."""
    if os.geteuid() != 0:
        return "not root"
    missing = [name for name in _PROGRAMS if shutil.which(name, path=_SYSTEM_PATH) is None]
    if missing:
        return f"missing: {', '.join(missing)} (Debian: iproute2, util-linux, openssh-server)"
    tried = subprocess.run([*_UNSHARE, "true"], capture_output=True, text=True, check=False)
    return tried.stderr.strip() or _firewall()


def _firewall() -> str:
    """Explain why hosts on a bridge would not reach each other: Docker makes the firewall drop them."""
    is_filtered = Path("/proc/sys/net/bridge/bridge-nf-call-iptables")
    iptables = shutil.which("iptables", path=_SYSTEM_PATH)
    if iptables is None or not is_filtered.exists() or is_filtered.read_text().strip() != "1":
        return ""
    rules = subprocess.run([iptables, "-S", "FORWARD"], capture_output=True, text=True, check=False).stdout
    if "-P FORWARD DROP" not in rules or _LET_PASS in rules:
        return ""
    mend = _LET_PASS.replace("-A FORWARD", "iptables -I FORWARD")
    return f"this machine's firewall drops what hosts send each other (Docker sets it up so); to let them: {mend}"


class NamespaceHost:
    """One host. `pid` is its process 1 as this machine counts."""

    def __init__(
        self, machine: Machine, process: subprocess.Popen[bytes], folder: Path, link: str, log: HostLog
    ) -> None:
        self.machine, self.folder, self.log = machine, folder, log
        self._process, self._link = process, link
        self._stopping = threading.Lock()

    @property
    def pid(self) -> int:
        """Return the number of the host's process 1."""
        return _process_1_of(self._process.pid)

    def stop(self) -> None:
        """Kill process 1: the kernel does the rest."""
        with self._stopping:
            _end(self._process)
            _ip(f"link del {self._link}", check=False)
            shutil.rmtree(self.folder, ignore_errors=True)

    def freeze(self) -> None:
        """Send SIGSTOP to all processes, again until no process was born meanwhile.

        A process that sleeps uninterruptibly stops when it wakes, and bears no other before. A process that has called
        vfork sleeps so until its child, which may be stopped already, has started a program.
        """
        while any(status != psutil.STATUS_DISK_SLEEP for status in self._send(signal.SIGSTOP, psutil.STATUS_STOPPED)):
            time.sleep(0.01)

    def thaw(self) -> None:
        """Send SIGCONT to all processes."""
        self._send(signal.SIGCONT)

    def cut(self) -> None:
        """Take this machine's end of the link down."""
        _ip(f"link set {self._link} down")

    def heal(self) -> None:
        """Bring this machine's end of the link up."""
        _ip(f"link set {self._link} up")

    def skip(self, seconds: float) -> None:
        """Have process 1, which keeps the timers, bring them nearer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"advance": seconds}).encode() + b"\n")
        self._process.stdin.flush()

    def path(self, inside: str) -> Path:
        """Return the file's path through process 1's own view."""
        return Path(f"/proc/{self.pid}/root", inside.lstrip("/"))

    def processes(self) -> Iterator[psutil.Process]:
        """Yield all processes of the host, its process 1 first."""
        namespace = Path(f"/proc/{self.pid}/ns/pid").readlink()
        for process in psutil.process_iter():
            with suppress(OSError):
                if Path(f"/proc/{process.pid}/ns/pid").readlink() == namespace:
                    yield process

    def _send(self, number: int, unless: str | None = None) -> list[str]:
        """Send the signal to all processes but those in that state; the states of those it was sent to."""
        sent: list[str] = []
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                status = process.status()
                if status not in (unless, psutil.STATUS_ZOMBIE):
                    process.send_signal(number)
                    sent.append(status)
        return sent


class NamespaceHosts:
    """Hosts on a bridge."""

    mode: HostMode = "namespaces"

    def __init__(self, slot: Slot, report: Report) -> None:
        self._slot, self._report = slot, report
        self._numbers = itertools.count(1)
        self._hosts: list[NamespaceHost] = []
        self.gateway = str(slot.network.network_address + 1)
        self.network = str(slot.network)
        _ip(
            f"link add {slot.bridge} type bridge",
            f"addr add {self.gateway}/{slot.network.prefixlen} dev {slot.bridge}",
            f"link set {slot.bridge} up",
        )

    def start(self, machine: Machine) -> NamespaceHost:
        """Start process 1, for its namespace is where the link goes; then carry out its order."""
        folder = self._slot.folder / machine.instance_id
        folder.mkdir()
        link = f"{self._slot.bridge.removesuffix('br')}h{next(self._numbers)}"
        process = _process_1(folder)
        log = HostLog()
        host = NamespaceHost(machine, process, folder, link, log)
        self._hosts.append(host)
        threading.Thread(target=self._read, args=(host, process), daemon=True).start()
        _await(lambda: bool(log.events), f"{machine.instance_id} did not start: see {folder}/console")
        self._connect(host, process.pid, link)
        assert process.stdin is not None
        process.stdin.write(json.dumps(self._order(machine)).encode() + b"\n")
        process.stdin.flush()
        return host

    def close(self) -> None:
        """Stop all hosts, then remove the bridge."""
        for host in self._hosts:
            host.stop()
        _ip(f"link del {self._slot.bridge}", check=False)

    def _order(self, machine: Machine) -> dict[str, Any]:
        about = {
            "hostname": machine.hostname,
            "address": machine.address,
            "prefix": self._slot.network.prefixlen,
            "gateway": self.gateway,
            "disks": dict(machine.disks),
        }
        return {"machine": about, "plan": machine.plan}

    def _connect(self, host: NamespaceHost, pid: int, link: str) -> None:
        mac = "02:" + ":".join(f"{int(part):02x}" for part in ("0", *host.machine.address.split(".")))
        _ip(
            f"link add {link} type veth peer name eth0 address {mac} netns {pid}",
            f"link set {link} master {self._slot.bridge} up",
            # So that a cut link is silent, as on AWS, instead of "no route to host".
            f"neigh replace {host.machine.address} lladdr {mac} dev {self._slot.bridge} nud permanent",
        )

    def _read(self, host: NamespaceHost, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line)
            host.log.events.append(event)
            self._report(host.machine.instance_id, event)


def _process_1(folder: Path) -> "subprocess.Popen[bytes]":
    interpreter = os.path.realpath(sys._base_executable)  # type: ignore[attr-defined]
    with (folder / "console").open("wb") as console:
        return subprocess.Popen(
            [*_UNSHARE, interpreter, "-S", "-m", "tests.cloud.inside.init", str(folder)],
            cwd=_CHECKOUT,
            env={"PATH": _SYSTEM_PATH, "LANG": "C.UTF-8", MARK: str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=console,
            start_new_session=True,
        )


def _process_1_of(unshare: int) -> int:
    """Return the only child of `unshare`."""
    return int(Path(f"/proc/{unshare}/task/{unshare}/children").read_text(encoding="ascii").split()[0])


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End process 1, which outlives all others of its namespace, and `unshare`, which outlives process 1."""
    if process.poll() is None:  # else its number may be another's by now
        try:
            os.kill(_process_1_of(process.pid), signal.SIGKILL)
        except (OSError, IndexError):  # not there yet, or no more
            process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()


def _ip(*commands: str, check: bool = True) -> None:
    done = subprocess.run(
        ["ip", "-batch", "-"], input="\n".join(commands) + "\n", capture_output=True, text=True, check=False
    )
    if check and done.returncode != 0:
        raise RuntimeError(f"ip {'; '.join(commands)}: {done.stderr.strip()}")


def _await(condition: Callable[[], bool], failure: str) -> None:
    deadline = time.monotonic() + _TIMEOUT_S
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(failure)
        time.sleep(0.01)
