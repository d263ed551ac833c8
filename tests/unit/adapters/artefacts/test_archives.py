"""The folder of an unpacked archive is found by a program in it, and is never outside of the archive."""

import io
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from plimsoll.adapters.artefacts.archives import Archives, unpacked
from plimsoll.adapters.artefacts.cache import Cache
from plimsoll.adapters.artefacts.release_programs import unpack_tar
from plimsoll.domain.keys.variant import Archive
from plimsoll.domain.text.errors import ArtefactError

ARCHIVE = Archive(url="https://example.org/a.tar", sha256="ab" * 32)


@dataclass(frozen=True)
class Packed(Archives):
    """Downloads nothing: the archive has these empty files, and this link to somewhere else."""

    files: tuple[str, ...] = ()
    link: tuple[str, str] | None = None

    def unpack(self, archive: Archive, folder: Path, scratch: Path) -> None:
        with tarfile.open(scratch / "packed", "w") as tar:
            for name in self.files:
                tar.addfile(tarfile.TarInfo(name), io.BytesIO())
            if self.link:
                link = tarfile.TarInfo(self.link[0])
                link.type, link.linkname = tarfile.SYMTYPE, self.link[1]
                tar.addfile(link)
        unpack_tar(scratch / "packed", folder)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """Provide a cache with an archive of somebody else's in it, beside a secret file."""
    made = Cache(tmp_path / "cache", lambda _: None)
    made.sealed("archives/other", lambda folder: (folder / "gen").touch())
    (tmp_path / "secret").touch()
    return made


@pytest.mark.parametrize(
    ("program", "home"),
    [("gen", "gen-1.0"), ("bin/java", "gen-1.0"), ("lib/a/b.jar", "gen-1.0"), ("lib/*/b.jar", "gen-1.0"), ("top", "")],
)
def test_the_program_lies_at_its_path_from_the_folder(cache: Cache, program: str, home: str) -> None:
    packed = Packed(files=("gen-1.0/gen", "gen-1.0/bin/java", "gen-1.0/lib/a/b.jar", "top"))
    found = unpacked(cache, ARCHIVE, program, packed)
    assert found == cache.root / "archives" / ARCHIVE.sha256 / home
    assert list(found.glob(program))


@pytest.mark.parametrize(
    "program",
    ["../other/gen", "bin/../../other/gen", "../../../secret", "/etc/passwd", "**/**/gen", "a**/gen", "**", "", "."],
)
def test_no_path_of_a_program_leads_out_of_the_archive(cache: Cache, program: str) -> None:
    with pytest.raises(ArtefactError, match="is no path in it"):
        unpacked(cache, ARCHIVE, program, Packed(files=("gen", "bin/java")))


@pytest.mark.parametrize("target", ["/etc", "../../..", "../../../archives/other"])
def test_no_link_in_it_leads_out_of_the_archive(cache: Cache, target: str) -> None:
    with pytest.raises(tarfile.TarError):
        unpacked(cache, ARCHIVE, "bin/gen", Packed(link=("bin", target)))
    assert not (cache.root / "archives" / ARCHIVE.sha256).exists()
