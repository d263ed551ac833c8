"""Read the settings `PLIMSOLL_*`: the places of results, caches, clusters and definitions.

No other module reads them, but the prefix of names, which the domain needs (prefix.py).
"""

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from plimsoll.places import own_folder, shipped
from plimsoll.prefix import PATTERN


class Settings(BaseSettings):
    """Settings from the environment, of which an empty variable counts as left out.

    Defaults are in the checkout, or where the user's programs keep their data.
    """

    model_config = SettingsConfigDict(env_prefix="PLIMSOLL_", env_ignore_empty=True, frozen=True, extra="ignore")

    store: str = Field(
        default_factory=lambda: str(own_folder() / "store"),
        description="Root of the result store: a folder, s3://bucket/prefix, or another fsspec URL",
    )
    store_connection: str = Field(
        default="aws_default", description="Connection to AWS for a store at s3://…, where Airflow runs it"
    )
    work: Path = Field(default_factory=lambda: own_folder() / "clusters", description="Where local clusters live")
    cache: Path = Field(
        default=Path.home() / ".cache" / "plimsoll", description="JDKs, databases and load generators, kept for later"
    )
    campaigns: Path = Field(default_factory=lambda: shipped("campaigns"), description="Folder of definitions")
    prefix: str = Field(
        default="",
        pattern=PATTERN,
        description="How ids of DAGs, the pool and the pages' path begin",
        examples=["bench_"],
    )
    cell_runs: int = Field(default=64, ge=1, description="How many runs of the DAG `cell` may live at once")
    users: str = Field(
        default="admin:admin", description="Who may log in to the local Airflow: name:role,… (viewer, user, op, admin)"
    )
    raw_days: int | None = Field(
        default=None, ge=1, description="After how many days raw files of published campaigns go; none: never"
    )
    raw_gb: int | None = Field(
        default=None,
        ge=1,
        description="How many GB raw files may take before those of the oldest published campaigns go; none: any",
    )
    toolkit: str = Field(
        default="plimsoll.bootstrap:full_toolkit",
        description="Factory of the wired adapters, `module:function` of one argument, these settings",
    )
    secrets: str = Field(
        default="plimsoll.bootstrap:environment_secrets",
        description="Factory of the keys' source, `module:function` of one argument, these settings",
    )
    notifier: str = Field(
        default="", description="Who is sent notices: an Airflow notifier with its arguments, as JSON; empty: nobody"
    )
    provider_programs: Path | None = Field(
        default=None, description="Folder of the programs that definitions with `provider: command` may name"
    )
    ssh_key: Path | None = Field(default=None, description="Private key for hosts, for those who run without Airflow")
    regions: str = Field(
        default="",
        pattern=r"^$|^[a-z]{2}(-[a-z]+)+-\d( *, *[a-z]{2}(-[a-z]+)+-\d)*$",
        description="Regions of AWS, with commas, where clusters are looked for too while campaigns can't be read",
        examples=["eu-west-1,us-east-1"],
    )
    ssh_user: str = Field(default="", description="Who logs in to hosts, where the definition does not say")
    database_user: str = Field(default="", description="Who logs in to a database that somebody else runs")
    database_password: SecretStr = Field(default=SecretStr(""), description="The password of that user")
    database_authority: Path | None = Field(
        default=None, description="File with the certificate, in PEM, that signs those of the database's nodes"
    )
    database_certificate: Path | None = Field(
        default=None, description="File with the client's certificate, in PEM, where the database asks for one"
    )
    database_key: Path | None = Field(default=None, description="File with its private key: PKCS #8, not encrypted")

    @property
    def further_regions(self) -> tuple[str, ...]:
        """Return regions to search for clusters, in addition to those of campaigns and definitions."""
        return tuple(region.strip() for region in self.regions.split(",") if region.strip())

    @property
    def has_store_in_s3(self) -> bool:
        return self.store.startswith("s3://")
