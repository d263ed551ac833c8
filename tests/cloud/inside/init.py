"""Process 1 of a host. Builds its file system, boots it, reaps, keeps the timers, and ends with the test cloud.

Speaks JSON lines: orders come by standard input, events go to standard output. When the input ends, for whatever
reason, so does this process, and the kernel ends all others of the host with it.
"""

import configparser
import json
import os
import resource
import selectors
import shlex
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from tests.cloud.inside import filesystem
from tests.cloud.inside.boot import Boot, environment

STAND_INS = ("shutdown", "systemctl", "mount", "umount", "mkfs.xfs", "swapoff", "mdadm")
# How long services have to close their connections.
_SERVICES_END_S = 0.2


def tell(event: Mapping[str, Any]) -> None:
    """Write one line in one write: others of this host write to the same pipe."""
    os.write(1, (json.dumps({"at": time.time(), **event}) + "\n").encode())


class Timers:
    """What is to happen later, by name."""

    def __init__(self) -> None:
        self._due: dict[str, tuple[float, Callable[[], None]]] = {}

    def set(self, name: str, seconds: float, action: Callable[[], None]) -> None:
        """Do it in so many seconds; replaces what had that name."""
        self._due[name] = (time.monotonic() + seconds, action)

    def advance(self, seconds: float) -> None:
        """Bring everything nearer."""
        self._due = {name: (due - seconds, action) for name, (due, action) in self._due.items()}

    def wait(self) -> float | None:
        """Return the seconds until the next timer is due."""
        return max(0.0, min(due for due, _ in self._due.values()) - time.monotonic()) if self._due else None

    def run(self) -> None:
        """Do what is due."""
        for name, (due, action) in list(self._due.items()):
            if due <= time.monotonic():
                del self._due[name]
                action()


class Init:
    """The main loop, and what stands in for systemd."""

    def __init__(self) -> None:
        self.timers = Timers()
        self.selector = selectors.DefaultSelector()

    def run(self, calls: int) -> None:
        """Handle orders and calls until the standard input ends."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for descriptor, handler in ((0, self.order), (calls, self.call)):
            self.selector.register(descriptor, selectors.EVENT_READ, _lines(descriptor, handler))
        self.selector.register(reader, selectors.EVENT_READ, lambda: os.read(reader, 512))
        while True:
            for key, _ in self.selector.select(self.timers.wait()):
                key.data()
            reap()
            self.timers.run()

    def order(self, line: bytes) -> None:
        """Handle an order of the cloud."""
        self.timers.advance(json.loads(line)["advance"])

    def call(self, line: bytes) -> None:
        """Report the call of a stand-in, and do what systemd would do."""
        call = json.loads(line)
        tell({"event": "call", **call})
        name, *arguments = call["argv"]
        if name == "shutdown":
            self.off()
        elif name == "systemctl" and {"restart", "--now"} & set(arguments):
            self.units(arguments)

    def off(self) -> None:
        """Shut the host down, its services first; the cloud decides what becomes of the instance."""
        os.kill(-1, signal.SIGTERM)
        self.timers.set("off", _SERVICES_END_S, lambda: tell({"event": "shutdown"}))

    def units(self, arguments: Sequence[str]) -> None:
        """Handle `systemctl start X.timer`, `… restart X.timer`, `… enable --now X.timer`: its service runs when it is
        due.
        """
        for unit in (word for word in arguments if word.endswith(".timer")):
            moment = read_unit(unit)["Timer"]["OnCalendar"].removesuffix(" UTC")
            due = datetime.fromisoformat(moment).replace(tzinfo=UTC)
            command = shlex.split(read_unit(unit.replace(".timer", ".service"))["Service"]["ExecStart"])
            self.timers.set(unit, (due - datetime.now(UTC)).total_seconds(), partial(start, command))


def read_unit(name: str) -> configparser.ConfigParser:
    """Return a unit's file."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(Path("/etc/systemd/system", name).read_text(encoding="utf-8"))
    return parser


def start(command: Sequence[str]) -> None:
    """Run a command in the background."""
    tell({"event": "started", "argv": list(command)})
    subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environment(), start_new_session=True
    )


def reap() -> None:
    """Bury every child that ended, one's own or one that was orphaned."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _lines(descriptor: int, handle: Callable[[bytes], None]) -> Callable[[], None]:
    """Return a reader of whole lines; ends the process at the end of its input."""
    rest = bytearray()

    def read() -> None:
        data = os.read(descriptor, 65536)
        if not data:
            os._exit(0)
        rest.extend(data)
        *lines, left = bytes(rest).split(b"\n")
        rest[:] = left
        for line in lines:
            guarded(handle, line)

    return read


def guarded(handle: Callable[[bytes], None], line: bytes) -> None:
    """Report a line that can't be understood, which does not end the host."""
    try:
        handle(line)
    except Exception:
        tell({"event": "error", "what": traceback.format_exc(limit=3), "line": line.decode(errors="replace")})


def connect(machine: Mapping[str, Any]) -> None:
    """Bring up loopback, and the link that the cloud has put into this namespace."""
    lines = f"""link set lo up
addr add {machine["address"]}/{machine["prefix"]} dev eth0
link set eth0 up
route add default via {machine["gateway"]}
"""
    subprocess.run(["ip", "-batch", "-"], input=lines, text=True, check=True)


def limits() -> bool:
    """Set limits as roomy as an AMI's services have them, or as this machine allows. Returns whether they are."""
    allowed = True
    for name, value in ((resource.RLIMIT_NOFILE, 1_048_576), (resource.RLIMIT_MEMLOCK, resource.RLIM_INFINITY)):
        try:
            resource.setrlimit(name, (value, value))
        except (ValueError, PermissionError):
            hard = resource.getrlimit(name)[1]
            resource.setrlimit(name, (hard, hard))
            allowed = False
    return allowed


def furnish(folder: Path, order: Mapping[str, Any]) -> int:
    """Return the file system and what stands in for programs; returns the pipe of their calls."""
    machine = order["machine"]
    text = Path(__file__).with_name("stand_in.py").read_text(encoding="utf-8")
    filesystem.enter(filesystem.build(folder, machine["disks"], sys.base_prefix))
    # What is imported from here on comes from where the interpreter's folder is shown now.
    sys.path[:] = [place.replace(sys.base_prefix, f"/{filesystem.PYTHON}") for place in sys.path]
    interpreter = f"/{filesystem.PYTHON}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    filesystem.stand_in(STAND_INS, text, interpreter)
    pipe = f"/{filesystem.STATE}/calls"
    os.mkfifo(pipe)
    Path(pipe).chmod(0o666)
    # Open for writing too: so it never ends.
    return os.open(pipe, os.O_RDWR | os.O_NONBLOCK)


def boot(order: Mapping[str, Any]) -> None:
    """Boot in a process of its own, for commands may take their time."""
    if os.fork() == 0:
        try:
            Boot(order["machine"], order["plan"], tell).run()
        except BaseException:
            tell({"event": "failed", "what": traceback.format_exc(limit=5)[-3000:]})
        os._exit(0)


def main() -> None:
    """Run `init.py <folder>`; the order with machine and plan is the first line of the input."""
    tell({"event": "alive"})
    # Unbuffered: what follows the first line is for the main loop to read.
    with open(0, "rb", buffering=0, closefd=False) as orders:
        order = json.loads(orders.readline())
    order["machine"]["limits_can_rise"] = limits()
    connect(order["machine"])
    calls = furnish(Path(sys.argv[1]), order)
    boot(order)
    Init().run(calls)


if __name__ == "__main__":
    main()
