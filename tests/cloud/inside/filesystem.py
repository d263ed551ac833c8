"""The file system that a host sees: the machine's programs below a writable layer of its own, and nobody's files.

Runs in the host's own mount namespace, so nothing of it is visible outside and all of it goes with the host.
"""

import ctypes
import os
import shutil
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC = 0x1, 0x20, 0x1000, 0x4000

# What a distribution installs. All else (home folders, checkouts, /tmp) is the machine's own and stays out of sight.
OVERLAID = ("bin", "etc", "lib", "lib32", "lib64", "libx32", "opt", "sbin", "srv", "usr", "var")
FRESH = ("home", "media", "mnt", "root", "tmp")
CHECKOUT = Path(__file__).resolve().parents[3]
# What Plimsoll itself, in containers or on hosts over SSH, may have left on the machine, and the checkout.
UNSEEN = ("var/lib/plimsoll", str(CHECKOUT).lstrip("/"))
DEVICES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
# Knobs of the whole machine: a host gets copies, which it may turn as it likes.
MACHINE_KNOBS = ("vm", "fs", "kernel", "net/core")
HUGE_PAGES = "sys/kernel/mm/transparent_hugepage"
STATE = "run/test-cloud"
SYSTEM_DISK = "nvme0n1"
PYTHON = "opt/test-cloud/python"
# Where distributions have these, so that ordinary users find them.
_IN_BIN = {"systemctl", "mount", "umount"}
_NVME_MAJOR = 259

_libc = ctypes.CDLL(None, use_errno=True)


def mount(source: str | Path, target: str | Path, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Call mount(2). OSError with both places where that fails."""
    arguments = (str(source).encode(), str(target).encode(), kind.encode() or None, flags, data.encode() or None)
    if _libc.mount(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(source), None, str(target))


def build(folder: Path, disks: Mapping[str, int | None], python: str) -> Path:
    """Mount a host's root below `folder`; returns it.

    `disks` are the NVMe disks by name with their size in bytes (None: no limit but the machine's), `python` the prefix
    of an interpreter for the stand-ins.
    """
    root = _made(folder / "root")
    mount("tmpfs", root, "tmpfs", data="mode=755,size=16m")
    for name in sorted(place.name for place in Path("/").iterdir()):
        _layer(folder, root, name)
    for name in FRESH:
        _own(folder, root / name, name)
    (root / "tmp").chmod(0o1777)
    _system(root)
    _devices(root, folder, disks)
    _knobs(root, folder)
    _block_devices(root, folder, disks)
    target = _made(root / PYTHON)
    mount(python, target, flags=MS_BIND | MS_REC)
    mount(python, target, flags=MS_BIND | MS_REMOUNT | MS_RDONLY)
    return root


def _layer(folder: Path, root: Path, name: str) -> None:
    place = Path("/", name)
    if place.is_symlink():
        (root / name).symlink_to(place.readlink())
    elif place.is_dir() and name in OVERLAID:
        upper, work = _made(folder / "upper" / name), _made(folder / "work" / name)
        for path in (Path(one) for one in UNSEEN if one.startswith(f"{name}/")):
            _hide(place / path.relative_to(name), upper / path.relative_to(name))
        data = f"lowerdir={place},upperdir={upper},workdir={work}"
        mount(f"/dev/{SYSTEM_DISK}p1", _made(root / name), "overlay", data=data)


def _hide(lower: Path, upper: Path) -> None:
    """Hide what lies below: overlayfs takes a character device 0/0 of the upper layer for deleted."""
    if lower.exists():
        os.mknod(_made(upper.parent) / upper.name, stat.S_IFCHR, os.makedev(0, 0))


def _own(folder: Path, place: Path, name: str) -> None:
    mount(_made(folder / "own" / name), _made(place), flags=MS_BIND)


def _system(root: Path) -> None:
    mount("proc", _made(root / "proc"), "proc")
    mount("sysfs", _made(root / "sys"), "sysfs", MS_RDONLY)
    mount("tmpfs", _made(root / "run"), "tmpfs", data="mode=755,size=64m")
    for name in ("sshd", "lock"):
        _made(root / "run" / name)


def _devices(root: Path, folder: Path, disks: Mapping[str, int | None]) -> None:
    dev = _made(root / "dev")
    mount("tmpfs", dev, "tmpfs", data="mode=755,size=1m")
    for name, (major, minor) in DEVICES.items():
        os.mknod(dev / name, stat.S_IFCHR, os.makedev(major, minor))
        (dev / name).chmod(0o666)
    mount("devpts", _made(dev / "pts"), "devpts", data="newinstance,ptmxmode=0666,mode=0620,gid=5")
    mount("tmpfs", _made(dev / "shm"), "tmpfs", data="mode=1777")
    for name, target in {
        "ptmx": "pts/ptmx",
        "fd": "/proc/self/fd",
        "stdin": "fd/0",
        "stdout": "fd/1",
        "stderr": "fd/2",
    }.items():
        (dev / name).symlink_to(target)
    for number, (name, size) in enumerate(disks.items()):
        _disk(root, folder, name, size, number)


def _disk(root: Path, folder: Path, name: str, size: int | None, number: int) -> None:
    """Make a block device that nothing can open, named as EC2 names it, and folders that are mounted in its stead."""
    os.mknod(root / "dev" / name, stat.S_IFBLK, os.makedev(_NVME_MAJOR, 1_000_000 + number))
    links = _made(root / "dev/disk/by-id")
    if name.startswith("nvme"):
        (links / f"nvme-Amazon_EC2_NVMe_Instance_Storage_AWS{number:017X}").symlink_to(f"../../{name}")
    content = _made(root / STATE / "disks" / name)
    if size is None:
        mount(_made(folder / "disks" / name), content, flags=MS_BIND)
    else:
        mount("tmpfs", content, "tmpfs", data=f"mode=755,size={size}")
    for part in ("content", "work", "nothing"):
        _made(content / part)


def _knobs(root: Path, folder: Path) -> None:
    for name in MACHINE_KNOBS:
        copy = _copied(Path("/proc/sys") / name, folder / "knobs" / name)
        target = root / "proc/sys" / name
        if target.is_dir():
            mount(copy, target, flags=MS_BIND)
    if Path("/", HUGE_PAGES).is_dir():
        mount(_copied(Path("/", HUGE_PAGES), folder / "knobs" / "huge"), root / HUGE_PAGES, flags=MS_BIND)


def _block_devices(root: Path, folder: Path, disks: Iterable[str]) -> None:
    """Fill /sys/class/block with the disks of an instance, whose queues can be set."""
    classes = _made(folder / "knobs" / "block")
    for name in (SYSTEM_DISK, *disks):
        queue = _made(classes / name / "queue")
        for knob, value in {"read_ahead_kb": "128", "scheduler": "[none] mq-deadline", "rotational": "0"}.items():
            (queue / knob).write_text(value + "\n", encoding="ascii")
    _made(classes / SYSTEM_DISK / f"{SYSTEM_DISK}p1")
    (classes / f"{SYSTEM_DISK}p1").symlink_to(f"{SYSTEM_DISK}/{SYSTEM_DISK}p1")
    mount(classes, root / "sys/class/block", flags=MS_BIND)


def _copied(source: Path, copy: Path) -> Path:
    """Return a copy of what can be read below a folder of /proc or /sys."""
    for parent, _, names in os.walk(source):
        into = _made(copy / Path(parent).relative_to(source))
        for name in names:
            try:
                (into / name).write_bytes((Path(parent) / name).read_bytes())
            except OSError:
                continue
    return copy


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def enter(root: Path) -> None:
    """Make that folder the root of this process and of all its children."""
    os.chroot(root)
    os.chdir("/")


def stand_in(names: Iterable[str], program: str, interpreter: str) -> None:
    """Put a program in the place of others; those that were there are kept where the program finds them."""
    kept = _made(Path("/", STATE, "real"))
    for name in names:
        found = shutil.which(name, path="/usr/sbin:/usr/bin")
        place = Path(found or f"/usr/{'bin' if name in _IN_BIN else 'sbin'}/{name}")
        if found:
            shutil.copy2(place, kept / name)
            place.unlink()
        place.write_text(f"#!{interpreter} -IS\n{program}", encoding="utf-8")
        place.chmod(0o755)
