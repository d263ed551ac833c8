"""What is compared: a product and its version, the JVM that it runs on if any, and its settings."""

from typing import Annotated, Literal

from pydantic import AliasChoices, Field, JsonValue

from plimsoll.domain.base import Model
from plimsoll.domain.units import Size

Collector = Literal["G1", "CMS", "Shenandoah", "ZGC", "Parallel", "Serial", "C4"]
FlagSet = Literal["shipped", "tlp-2020"]

SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"
RELEASE = r"^\d+(\.\d+)*([.-][a-z0-9]+)*$"
"""The form of a release: `4.0.1`, `4.0-alpha4`."""


class JdkArchive(Model):
    """Where a JDK is had that can't be fetched freely, such as Azul Prime. Definitions are kept: no secrets in them."""

    url: Annotated[
        str,
        Field(
            pattern=r"^(https?://[^@?#\s]+|s3://[^/@?#\s]+/[^?#\s]+)$",
            description="`https://…` or `s3://bucket/key` of its tar archive; without user, password or query",
        ),
    ]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="Of the archive")]


class JvmConfiguration(Model):
    """A JDK, its collector, the heap and every further flag, in the order given on the command line."""

    jdk: Annotated[
        str,
        Field(
            pattern=r"^[a-z]+(-[a-z]+)*-\d+(\.\d+)*$",
            description="Distribution and version",
            examples=["openjdk-11.0.13", "prime-11.0.13"],
        ),
    ]
    collector: Annotated[Collector, Field(description="Garbage collector; its flags are added")]
    heap: Annotated[Size, Field(gt=0, description="Heap of each database node, minimum and maximum alike")]
    flag_set: Annotated[
        FlagSet, Field(description="Whose flags for the collector: the database's as shipped, or a publication's")
    ] = "shipped"
    flags: Annotated[tuple[str, ...], Field(description="Further JVM flags, after the collector's own")] = ()
    archive: Annotated[
        JdkArchive | None, Field(description="Where that JDK is had; none: the freely available one of that name")
    ] = None

    @property
    def distribution(self) -> str:
        """The distribution of the JDK: `openjdk` for `openjdk-11.0.13`."""
        return self.jdk.rpartition("-")[0]

    @property
    def jdk_version(self) -> str:
        """The version of the JDK: `11.0.13` for `openjdk-11.0.13`."""
        return self.jdk.rpartition("-")[2]


class Variant(Model):
    """One of the things compared. `id` is part of every cell's id."""

    id: Annotated[str, Field(pattern=SLUG, max_length=40, description="Short name: letters, digits and hyphens")]
    title: Annotated[str, Field(description="Name in reports")] = ""
    product: Annotated[
        str | None, Field(description="Product, by the name of its adapter; none: the system's `database`")
    ] = None
    version: Annotated[
        str | None,
        Field(
            pattern=RELEASE,
            # What the key was called while variants could choose nothing but the version.
            validation_alias=AliasChoices("version", "database_version"),
            description="Release; none: the system's, if the product is the system's too",
        ),
    ] = None
    jvm: Annotated[
        JvmConfiguration | None, Field(description="What it runs on; none: of a product that needs no JVM")
    ] = None
    settings: Annotated[
        dict[str, JsonValue], Field(description="Settings of the product, over the system's own if it is the system's")
    ] = {}

    @property
    def label(self) -> str:
        """The title, or the id where the variant has no title."""
        return self.title or self.id
