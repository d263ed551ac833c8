"""The systems that are compared: product and version, the JVM if any, and settings; archives, and downloads."""

from pathlib import PurePosixPath
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, JsonValue, field_validator

from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import Size

Collector = Literal["G1", "CMS", "Shenandoah", "ZGC", "Parallel", "Serial", "C4"]
FlagSet = Literal["shipped", "tlp-2020"]

SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"
RELEASE = r"^\d+(\.\d+)*([.-][A-Za-z0-9]+)*$"
"""The form of a release: `4.0.1`, `4.0-alpha4`, `5.0.10-SNAPSHOT`."""


class Archive(Model):
    """The archive of a program that no registry has, such as Azul Prime, ScyllaDB or a build of one's own."""

    url: Annotated[
        str,
        Field(
            pattern=r"^(https?://[^@?#\s]+|s3://[^/@?#\s]+/[^?#\s]+)$",
            description="`https://…` or `s3://bucket/key` of a tar archive, without user, password or query",
        ),
    ]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="Its SHA-256, as `sha256sum` prints it")]

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        try:
            parts = urlsplit(value)
            (parts.hostname or "").encode("idna")
            _ = parts.port  # It is read only now
        except ValueError as error:
            raise ValueError(f"{value!r} is no address: {error}") from None
        return value

    def __str__(self) -> str:
        """Return what tells it apart from other archives, wherever it lies."""
        return f"{PurePosixPath(self.url).name}, sha256 {self.sha256}"


class Download(Model):
    """One download, whether it is still to come or in the cache."""

    name: Annotated[str, Field(description="What it is, for people")]
    size_bytes: Annotated[int | None, Field(description="Size of what is fetched; null: known only once it is")]
    is_there: Annotated[bool, Field(description="Whether it is in the cache, so that nothing is fetched")]

    def __str__(self) -> str:
        """Format the download as `cassandra-stress (53 MB)`."""
        size = "size not known before" if self.size_bytes is None else f"{self.size_bytes / 1_000_000:,.0f} MB"
        return f"{self.name} ({size})"


def is_inside(program: str) -> bool:
    """Tell whether that path of a program, which may have `*`, stays in the folder of an archive."""
    parts = PurePosixPath(program).parts
    return bool(parts) and parts[0] != "/" and ".." not in parts and "**" not in program


class JvmConfiguration(Model):
    """The JVM of a variant: JDK, collector, heap, and further flags in the order of the command line."""

    jdk: Annotated[
        str,
        Field(
            pattern=r"^[a-z]+(-[a-z]+)*-\d+(\.\d+)*$",
            description="Distribution and version of the JDK",
            examples=["openjdk-11.0.13", "prime-11.0.13"],
        ),
    ]
    collector: Annotated[Collector, Field(description="Garbage collector. Its flags are added")]
    heap: Annotated[Size, Field(gt=0, description="Heap of each database node, as minimum and maximum")]
    initial_heap: Annotated[
        LeftOutIfEmpty[Size | None], Field(gt=0, description="Smaller minimum, with which nodes start")
    ] = None
    flag_set: Annotated[
        FlagSet, Field(description="Flags of the collector: as the database ships them, or of that publication")
    ] = "shipped"
    flags: Annotated[tuple[str, ...], Field(description="Further JVM flags, after the collector's own")] = ()
    archive: Annotated[Archive | None, Field(description="Archive of a JDK that no registry has")] = None

    @property
    def jdk_version(self) -> str:
        """Return the version of the JDK: `11.0.13` for `openjdk-11.0.13`."""
        return self.jdk.rpartition("-")[2]


class Variant(Model):
    """One of the systems that are compared. Its `id` is a part of the ids of its cells."""

    id: Annotated[str, Field(pattern=SLUG, max_length=40, description="Short name: letters, digits and hyphens")]
    title: Annotated[str, Field(description="Name in reports")] = ""
    product: Annotated[str | None, Field(description="Product; by default the system's `database`")] = None
    version: Annotated[
        str | None, Field(pattern=RELEASE, description="Release; by default the system's, of the same product")
    ] = None
    archive: Annotated[
        LeftOutIfEmpty[Archive | None],
        Field(description="Archive of a product that no registry has, or of a build of Cassandra"),
    ] = None
    jvm: Annotated[JvmConfiguration | None, Field(description="JVM of products that run on one")] = None
    settings: Annotated[dict[str, JsonValue], Field(description="Settings of the product, over the system's")] = {}

    @property
    def label(self) -> str:
        return self.title or self.id
