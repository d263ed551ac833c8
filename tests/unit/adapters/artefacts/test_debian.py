"""A runtime laid out as packages hold it, without fetching one."""

import os
from pathlib import Path
from typing import Any

import pytest

from plimsoll.adapters.artefacts import jdks
from plimsoll.adapters.artefacts.web import Ended
from plimsoll.domain.text.errors import ArtefactError

HOME = "usr/lib/jvm/java-8-openjdk-amd64/jre"
MIRRORS = """Debian bookworm-security http://mirror/debian-security/
Other stable http://elsewhere/debian/
Debian bookworm http://mirror/debian/"""


def file(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Collect what programs are run; `apt-get` downloads one package, `dpkg-deb` unpacks what a JRE's holds."""
    ran: list[list[str]] = []

    def run(argv: Any, *, timeout_s: Any, env: Any, cwd: Any = None) -> Ended:
        ran.append(list(argv))
        if "indextargets" in argv:
            return Ended(0, MIRRORS)
        if "download" in argv:
            file(cwd / "openjdk.deb")
        if argv[0] == "dpkg-deb":
            root = Path(argv[3])
            file(root / HOME / "bin" / "java", "the program")
            file(root / "etc" / "java-8-openjdk" / "jvm.cfg", "-server KNOWN")
            (root / HOME / "jvm.cfg").symlink_to("/etc/java-8-openjdk/jvm.cfg")
            (root / HOME / "cacerts").symlink_to("/etc/ssl/certs/java/cacerts")
            (root / "usr/lib/jvm/java-1.8.0-openjdk-amd64").symlink_to("java-8-openjdk-amd64")
            file(root / "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", "the loader")
            file(root / "usr/lib/x86_64-linux-gnu/libc.so.6", "the library")
        return Ended(0, "")

    monkeypatch.setattr(jdks, "run", run)
    return ran


def unpacked(tmp_path: Path) -> Path:
    folder, scratch = tmp_path / "content", tmp_path / "scratch"
    folder.mkdir()
    scratch.mkdir()
    jdks.unpack_debian("openjdk-8", folder, scratch)
    return folder


def test_the_runtime_starts_through_the_loader_that_came_with_it(tmp_path: Path, commands: list[list[str]]) -> None:
    folder = unpacked(tmp_path)

    assert (folder / "jre" / "bin" / "ld.so").read_text() == "the loader"
    assert (folder / "libraries" / "libc.so.6").read_text() == "the library"
    assert (
        '"$home/jre/bin/ld.so" --library-path "$home/libraries" "$home/jre/bin/java"'
        in (folder / "bin" / "java").read_text()
    )
    assert os.access(folder / "bin" / "java", os.X_OK)


def test_configuration_that_the_package_puts_into_etc_is_copied(tmp_path: Path, commands: list[list[str]]) -> None:
    folder = unpacked(tmp_path)

    assert (folder / "jre" / "jvm.cfg").read_text() == "-server KNOWN"
    assert not (folder / "jre" / "jvm.cfg").is_symlink()
    assert not (folder / "jre" / "cacerts").exists()


def test_packages_come_from_the_machine_s_own_mirror_with_the_signed_index(
    tmp_path: Path, commands: list[list[str]]
) -> None:
    unpacked(tmp_path)

    source = (tmp_path / "scratch" / "sources.list").read_text()
    assert source.startswith("deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror/debian/ sid")
    assert [argv[-1] for argv in commands if "update" in argv] == ["update"]


def test_a_machine_without_a_mirror_of_debian_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jdks, "run", lambda *_, **__: Ended(0, "Ubuntu noble http://mirror/ubuntu/"))

    with pytest.raises(ArtefactError, match="apt knows no mirror of Debian here"):
        unpacked(tmp_path)


def test_an_apt_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(argv: Any, **_: Any) -> Any:
        return Ended(0, MIRRORS) if "indextargets" in argv else Ended(100, "E: the index is not signed")

    monkeypatch.setattr(jdks, "run", run)
    with pytest.raises(ArtefactError, match="the index is not signed"):
        unpacked(tmp_path)


def test_a_jdk_that_there_is_no_package_of_can_not_be_fetched() -> None:
    assert not jdks.is_in_debian("openjdk-14")
