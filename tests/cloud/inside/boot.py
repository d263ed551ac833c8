"""What cloud-init does at a first boot, as far as it is supported: for real, in the host's own file system."""

import base64
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
Tell = Callable[[Mapping[str, Any]], None]

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_SSHD = """\
Port {port}
ListenAddress {address}
HostKey /etc/ssh/ssh_host_{kind}_key
PermitRootLogin prohibit-password
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
        """The stages in cloud-init's order: sshd answers before the commands of the last stage ran."""
        name_host(self.machine)
        if self.plan["unsupported"]:
            raise ValueError(f"the test cloud does not support this user data: {self.plan['unsupported']}")
        self.stage("bootcmd", self.plan["bootcmd"])
        self.write_files(deferred=False)
        self.users()
        start_sshd(self.machine, self.plan["host_keys"])
        self.tell({"event": "ssh"})
        self.write_files(deferred=True)
        self.stage("runcmd", self.plan["runcmd"])
        for number, script in enumerate(self.plan["scripts"]):
            self.script(f"script-{number}", base64.b64decode(script))
        self.finish()

    def stage(self, name: str, commands: Sequence[str]) -> None:
        """All commands of a stage as one shell script: a `cd` or a variable of one holds for the next."""
        if commands:
            lines = (f"{command}\necho {number} $? >>/{STATE}/{name}\n" for number, command in enumerate(commands))
            self.script(name, ("#!/bin/sh\n" + "".join(lines)).encode())
            self.report(name, commands)

    def report(self, name: str, commands: Sequence[str]) -> None:
        """Which command ended how; those that were not reached are missing."""
        done = Path("/", STATE, name)
        for line in done.read_text(encoding="utf-8").splitlines() if done.exists() else ():
            number, code = map(int, line.split())
            self.tell({"event": "executed", "stage": name, "command": commands[number], "exit_code": code})

    def script(self, name: str, content: bytes) -> None:
        """Run it as root. The last command's exit code decides, as with cloud-init."""
        place = Path("/var/lib/cloud/instance/scripts", name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        place.chmod(0o700)
        with LOG.open("ab") as log:
            ended = subprocess.run(
                [place], stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False, env=environment()
            )
        settle_knobs()
        self.tell({"event": "script", "stage": name, "exit_code": ended.returncode})
        self.ok = self.ok and ended.returncode == 0

    def write_files(self, *, deferred: bool) -> None:
        """`write_files`, those of that kind."""
        for file in self.plan["write_files"]:
            if file["defer"] == deferred:
                write_file(file)
                self.tell({"event": "written", "path": file["path"]})

    def users(self) -> None:
        """Users with their keys; root's keys only where the user data asks for it."""
        for user in self.plan["users"]:
            add_user(user)
        if not self.plan["disable_root"]:
            authorize("root", self.plan["root_keys"])

    def finish(self) -> None:
        """Leave the marks that `cloud-init status` and others look for."""
        Path("/var/lib/cloud/instance/boot-finished").touch()
        Path("/", STATE, "booted").write_text("done" if self.ok else "error", encoding="utf-8")
        self.tell({"event": "booted", "ok": self.ok})


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
    """What cloud-init's scripts find."""
    return {"PATH": _PATH, "HOME": "/root", "USER": "root", "LANG": "C.UTF-8"}


def name_host(machine: Mapping[str, Any]) -> None:
    """Its name, to itself and in /etc/hosts."""
    name = machine["hostname"]
    socket.sethostname(name)
    Path("/etc/hostname").write_text(name + "\n", encoding="utf-8")
    Path("/etc/hosts").write_text(f"127.0.0.1 localhost\n{machine['address']} {name}\n", encoding="utf-8")


def write_file(file: Mapping[str, Any]) -> None:
    """One entry of `write_files`."""
    place = Path(file["path"])
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("ab" if file["append"] else "wb") as stream:
        stream.write(base64.b64decode(file["content"]))
    place.chmod(file["mode"])
    owner, _, group = file["owner"].partition(":")
    shutil.chown(place, owner, group or owner)


def add_user(user: Mapping[str, Any]) -> None:
    """A user with a home, its keys, and sudo as asked for."""
    if user["name"] not in {entry.pw_name for entry in pwd.getpwall()}:
        groups = [f"--groups={user['groups']}"] if user["groups"] else []
        subprocess.run(["useradd", "--create-home", f"--shell={user['shell']}", *groups, user["name"]], check=True)
        # A locked password would lock the account for PAM too.
        subprocess.run(["usermod", "--password", "*", user["name"]], check=True)
    for rule in user["sudo"]:
        rules = Path("/etc/sudoers.d/90-cloud-init-users")
        rules.parent.mkdir(parents=True, exist_ok=True)
        with rules.open("a", encoding="utf-8") as stream:
            stream.write(f"{user['name']} {rule}\n")
        rules.chmod(0o440)
    authorize(user["name"], user["keys"])


def authorize(name: str, keys: Sequence[str]) -> None:
    """These public keys may log in as that user."""
    user = pwd.getpwnam(name)
    folder = Path(user.pw_dir, ".ssh")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / "authorized_keys"
    file.write_text("".join(key.strip() + "\n" for key in keys), encoding="utf-8")
    file.chmod(0o600)
    for place in (folder, file):
        os.chown(place, user.pw_uid, user.pw_gid)


def start_sshd(machine: Mapping[str, Any], host_keys: Mapping[str, Sequence[str]]) -> None:
    """sshd with the host keys of the user data, or a new one where it has none. It listens when this returns."""
    folder = Path("/etc/ssh")
    for old in folder.glob("ssh_host_*"):
        old.unlink()
    for kind, (private, public) in host_keys.items():
        key = folder / f"ssh_host_{kind}_key"
        key.touch(0o600)
        key.write_text(private.rstrip("\n") + "\n", encoding="utf-8")
        key.with_suffix(".pub").write_text(public.rstrip("\n") + "\n", encoding="utf-8")
    kinds = list(host_keys) or [_generated(folder)]
    text = _SSHD.format(port=machine["ssh_port"], address=machine["address"], kind=kinds[0])
    more = "".join(f"HostKey /etc/ssh/ssh_host_{kind}_key\n" for kind in kinds[1:])
    (folder / "sshd_config").write_text(more + text, encoding="utf-8")
    if not machine["limits_can_rise"]:
        ease_limits(Path("/etc/pam.d/sshd"))
    subprocess.run(["/usr/sbin/sshd"], check=True, env=environment(), stdin=subprocess.DEVNULL)
    if not sshd_answers(machine["address"], machine["ssh_port"]):
        raise RuntimeError("sshd does not answer")


def ease_limits(pam: Path) -> None:
    """Where root may not raise limits, let a limits.d file that asks for more not lock everyone out."""
    text = pam.read_text(encoding="utf-8")
    pam.write_text(
        re.sub(r"(?m)^session\s+required\s+pam_limits.so", "session optional pam_limits.so", text), encoding="utf-8"
    )


def _generated(folder: Path) -> str:
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / "ssh_host_ed25519_key")]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)
    return "ed25519"
