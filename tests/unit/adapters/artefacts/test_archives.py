"""The folder of an unpacked archive is found by a program in it, and is never outside of the archive."""

import io
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import ValidationError

from plimsoll.adapters.artefacts.archives import Archives, unpack_tar, unpacked
from plimsoll.adapters.artefacts.cache import Cache
from plimsoll.adapters.artefacts.web import web_blocks
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


@pytest.mark.parametrize("place", ["h:99999", "[::1", "[zz]", "a..b"])
def test_an_address_that_leads_nowhere_is_refused_with_the_definition(place: str) -> None:
    with pytest.raises(ValidationError, match="is no address"):
        Archive(url=f"https://{place}/x.tgz", sha256="ab" * 32)


def test_a_redirect_to_a_port_that_there_is_not_is_told_in_a_sentence() -> None:
    with pytest.raises(ArtefactError, match="it leads to no address: Port out of range"):
        next(web_blocks("https://h:99999/x.tgz", 5))


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
