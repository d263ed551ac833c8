# Stands in for programs that a host in the test cloud must not run for real: they would change the machine, or need
# systemd. Tells process 1 of the host what was asked for, and does the part of it that is harmless.
# Started for every call, so without pathlib.
# ruff: noqa: PTH109, PTH110, PTH112, PTH119, PTH123
import ctypes
import json
import os
import sys
from typing import NoReturn

STATE = "/run/test-cloud"
NAME, ARGUMENTS = os.path.basename(sys.argv[0]), sys.argv[1:]
OPERANDS = [word for word in ARGUMENTS if not word.startswith("-")]


def tell() -> None:
    line = json.dumps({"argv": [NAME, *ARGUMENTS], "cwd": os.getcwd(), "uid": os.getuid()}) + "\n"
    # One write of less than PIPE_BUF bytes is whole; a longer one could be mixed with another program's.
    with open(STATE + "/calls", "wb", buffering=0) as calls:
        calls.write(line.encode()[:4096])


def real() -> NoReturn:
    program = STATE + "/real/" + NAME
    os.execv(program, [NAME, *ARGUMENTS])


def disk_of(word: str) -> str | None:
    """Return the name of the NVMe disk that a path means, or None."""
    name = os.path.basename(os.path.realpath(word))
    return name if os.path.isdir(STATE + "/disks/" + name) else None


def mounted_disk() -> int:
    """Mount the disk's folder: `mount [-o …] [-t …] DEVICE FOLDER`. Other file systems are not mounted at all."""
    places = [word for word in OPERANDS if word.startswith("/")]
    disk = disk_of(places[0]) if len(places) == 2 else None
    if disk is None:
        return 0
    if not os.path.exists(STATE + "/formatted-" + disk):
        print(f"mount: {places[1]}: wrong fs type, bad option, bad superblock on {places[0]}.", file=sys.stderr)
        return 32
    libc = ctypes.CDLL(None, use_errno=True)
    # Layers and not a bind mount, so that the mount table names the device.
    parts = f"{STATE}/disks/{disk}"
    layers = f"lowerdir={parts}/nothing,upperdir={parts}/content,workdir={parts}/work"
    if libc.mount(os.path.realpath(places[0]).encode(), places[1].encode(), b"overlay", 0, layers.encode()) != 0:
        print(f"mount: {places[1]}: {os.strerror(ctypes.get_errno())}.", file=sys.stderr)
        return 32
    return 0


def formatted() -> int:
    for disk in filter(None, map(disk_of, OPERANDS)):
        with open(STATE + "/formatted-" + disk, "w") as mark:
            mark.write(NAME)
    return 0


def main() -> int:
    if NAME in ("mount", "umount") and not [word for word in OPERANDS if word.startswith("/")]:
        real()
    if NAME == "umount":
        tell()
        real()
    tell()
    if NAME.startswith("mkfs"):
        return formatted()
    return mounted_disk() if NAME == "mount" else 0


sys.exit(main())
