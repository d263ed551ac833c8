"""What cloud-init does at a first boot, as far as it is supported: for real, in the host's own file system."""

import os
import pwd
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.cloud.inside.filesystem import HUGE_PAGES, STATE
from tests.cloud.inside.sshd import sshd_answers

LOG = Path("/var/log/cloud-init-output.log")
_DONE = Path("/", STATE, "runcmd")
Tell = Callable[[Mapping[str, Any]], None]

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_SSHD = """\
Port 22
ListenAddress {address}
HostKey /etc/ssh/ssh_host_ed25519_key
PermitRootLogin no
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM yes
PrintMotd no
AcceptEnv LANG LC_*
Subsystem sftp internal-sftp
"""


class Boot:
    """One boot. `tell` reports what was done; `ok` is false once something failed."""

    def __init__(self, machine: Mapping[str, Any], plan: Mapping[str, Any], tell: Tell) -> None:
        self.machine, self.plan, self.tell, self.ok = machine, plan, tell, True

    def run(self) -> None:
        """Run the stages in cloud-init's order: sshd answers before the commands of the last stage ran."""
        name_host(self.machine)
        if self.plan["unsupported"]:
            raise ValueError(f"the test cloud does not support this user data: {self.plan['unsupported']}")
        self.write_files()
        for user in self.plan["users"]:
            add_user(user)
        start_sshd(self.machine, self.plan["host_keys"])
        self.tell({"event": "ssh"})
        if self.plan["runcmd"]:
            self.run_commands(self.plan["runcmd"])
        self.tell({"event": "booted", "ok": self.ok})

    def run_commands(self, commands: Sequence[str]) -> None:
        """Run all commands as one shell script: a `cd` or a variable of one holds for the next."""
        lines = (f"{command}\necho {number} $? >>{_DONE}\n" for number, command in enumerate(commands))
        self.script(("#!/bin/sh\n" + "".join(lines)).encode())
        self.report(commands)

    def report(self, commands: Sequence[str]) -> None:
        """Report which command ended how; those that were not reached are missing."""
        for line in _DONE.read_text(encoding="utf-8").splitlines() if _DONE.exists() else ():
            number, code = map(int, line.split())
            self.tell({"event": "executed", "command": commands[number], "exit_code": code})

    def script(self, content: bytes) -> None:
        """Run it as root. The last command's exit code decides, as with cloud-init."""
        place = Path("/var/lib/cloud/instance/scripts/runcmd")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        place.chmod(0o700)
        with LOG.open("ab") as log:
            ended = subprocess.run(
                [place], stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False, env=environment()
            )
        settle_knobs()
        self.ok = ended.returncode == 0

    def write_files(self) -> None:
        """Write the entries of `write_files` of that kind."""
        for file in self.plan["write_files"]:
            write_file(file)
            self.tell({"event": "written", "path": file["path"]})


def settle_knobs() -> None:
    """Let copies of the kernel's choices read as the kernel's own: `always [madvise] never`."""
    for name, words in {
        "enabled": ("always", "madvise", "never"),
        "defrag": ("always", "defer", "madvise", "never"),
    }.items():
        knob = Path("/", HUGE_PAGES, name)
        chosen = knob.read_text(encoding="utf-8").strip() if knob.exists() else ""
        if chosen in words:
            knob.write_text(
                " ".join(f"[{word}]" if word == chosen else word for word in words) + "\n", encoding="utf-8"
            )


def environment() -> dict[str, str]:
    """Return the environment of cloud-init's scripts."""
    return {"PATH": _PATH, "HOME": "/root", "USER": "root", "LANG": "C.UTF-8"}


def name_host(machine: Mapping[str, Any]) -> None:
    """Name the host, to itself and in /etc/hosts."""
    name = machine["hostname"]
    socket.sethostname(name)
    Path("/etc/hostname").write_text(name + "\n", encoding="utf-8")
    Path("/etc/hosts").write_text(f"127.0.0.1 localhost\n{machine['address']} {name}\n", encoding="utf-8")


def write_file(file: Mapping[str, Any]) -> None:
    """Write one entry of `write_files`."""
    place = Path(file["path"])
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(file["content"], encoding="utf-8")
    place.chmod(int(file["permissions"], 8))
    shutil.chown(place, *file["owner"].split(":"))


def add_user(user: Mapping[str, Any]) -> None:
    """Add a user with a home, keys, and sudo as requested."""
    if user["name"] not in {entry.pw_name for entry in pwd.getpwall()}:
        subprocess.run(["useradd", "--create-home", f"--shell={user['shell']}", user["name"]], check=True)
        # A locked password would lock the account for PAM too.
        subprocess.run(["usermod", "--password", "*", user["name"]], check=True)
    if "sudo" in user:
        rules = Path("/etc/sudoers.d/90-cloud-init-users")
        rules.parent.mkdir(parents=True, exist_ok=True)
        rules.write_text(f"{user['name']} {user['sudo']}\n", encoding="utf-8")
        rules.chmod(0o440)
    authorize(user["name"], user["ssh_authorized_keys"])


def authorize(name: str, keys: Sequence[str]) -> None:
    """Let these public keys log in as that user."""
    user = pwd.getpwnam(name)
    folder = Path(user.pw_dir, ".ssh")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / "authorized_keys"
    file.write_text("".join(key.strip() + "\n" for key in keys), encoding="utf-8")
    file.chmod(0o600)
    for place in (folder, file):
        os.chown(place, user.pw_uid, user.pw_gid)


def start_sshd(machine: Mapping[str, Any], host_keys: Mapping[str, str]) -> None:
    """Start sshd with the host keys of the user data, or a new one where it has none. sshd listens when this
    returns.
    """
    key = Path("/etc/ssh/ssh_host_ed25519_key")
    for old in key.parent.glob("ssh_host_*"):
        old.unlink()
    key.touch(0o600)
    key.write_text(host_keys["ed25519_private"].rstrip("\n") + "\n", encoding="utf-8")
    (key.parent / "sshd_config").write_text(_SSHD.format(address=machine["address"]), encoding="utf-8")
    if not machine["limits_can_rise"]:
        ease_limits(Path("/etc/pam.d/sshd"))
    subprocess.run(["/usr/sbin/sshd"], check=True, env=environment(), stdin=subprocess.DEVNULL)
    if not sshd_answers(machine["address"]):
        raise RuntimeError("sshd does not answer")


def ease_limits(pam: Path) -> None:
    """Let a limits.d file that asks for more not lock everyone out, where root may not raise limits."""
    text = pam.read_text(encoding="utf-8")
    pam.write_text(
        re.sub(r"(?m)^session\s+required\s+pam_limits.so", "session optional pam_limits.so", text), encoding="utf-8"
    )
