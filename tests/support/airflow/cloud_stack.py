"""A real Airflow whose clusters and store are on the test cloud, as in production: it knows them by its connections."""

import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
from tests.cloud.client import CloudClient
from tests.cloud.process import cloud_process
from tests.support.airflow.secret_search import words_of_key
from tests.support.airflow.stack import StackUnderTest, running_stack
from tests.support.ssh.sshd import make_key

from plimsoll.adapters.stores.s3_store import S3Store
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.definitions.reference import dump_definition
from plimsoll.settings import Settings

USER = "ec2-user"
"""The user who logs in to hosts. It is the user of AWS's own images, and not root."""

_PREFIX = "runs"


@dataclass(frozen=True)
class Secrets:
    """Keys that only Airflow's database may hold."""

    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    ssh_key: str = field(repr=False)

    def words(self) -> Iterator[str]:
        """Yield texts whose presence reveals a secret."""
        yield self.secret_key
        yield from words_of_key(self.ssh_key)


@dataclass(frozen=True)
class CloudStack:
    """A running Airflow, the test cloud with its properties, and the store in its bucket."""

    airflow: StackUnderTest
    cloud: CloudClient
    store: S3Store
    secrets: Secrets
    landscape: Mapping[str, Any]


@contextmanager
def running_cloud_stack(
    folder: Path,
    definitions: Sequence[Definition],
    *,
    cloud: Sequence[str] = ("--mode", "namespaces"),
    env: Mapping[str, str] | None = None,
) -> Iterator[CloudStack]:
    """Provide a test cloud, and an Airflow that uses it and has the definitions' DAGs.

    Both run in processes of their own. Definitions keep their published options of the EC2 provider, except for those
    that differ between accounts, which get the cloud's values. `cloud` has options of the cloud's process, `env` the
    environment of Airflow's processes.
    """
    with cloud_process(*cloud) as process:
        about = process.about
        place = f"s3://{about['landscape']['bucket']}/{_PREFIX}"
        keys = _made_secrets(folder)
        campaigns = folder / "campaigns"
        _write(campaigns, (at_home(definition, about["landscape"]) for definition in definitions))
        environment = {
            "PLIMSOLL_STORE": place,
            "PLIMSOLL_CAMPAIGNS": str(campaigns),
            "PLIMSOLL_CACHE": str(Settings().cache),
            **_direct(about["endpoint"]),
            **(env or {}),
        }
        dag_ids = [*(definition.dag_id for definition in definitions), "cell", "reaper"]
        with running_stack(folder, env=environment, dag_ids=dag_ids) as airflow:
            _connect(airflow, keys, about["endpoint"], about["landscape"]["region"])
            store = S3Store(place, lambda: _client("s3", keys, about))
            yield CloudStack(airflow, process.control, store, keys, about["landscape"])


def at_home(definition: Definition, landscape: Mapping[str, Any]) -> Definition:
    """Return the definition with the test cloud's security group, because each account has its own."""
    options = {**definition.provider.options, "security_group": landscape["security_group"]}
    return definition.model_copy(update={"provider": definition.provider.model_copy(update={"options": options})})


def _write(campaigns: Path, definitions: Iterable[Definition]) -> None:
    campaigns.mkdir(parents=True, exist_ok=True)
    for definition in definitions:
        (campaigns / f"{definition.name}.yaml").write_text(dump_definition(definition))


def _made_secrets(folder: Path) -> Secrets:
    key = make_key(folder / "keys", "plimsoll").private
    return Secrets(f"AKIA{secrets.token_hex(8).upper()}", secrets.token_hex(20), key)


def _connect(airflow: StackUnderTest, keys: Secrets, endpoint: str, region: str) -> None:
    """Add the connections that docs/guides/aws.md requires to Airflow's database, as its UI does."""
    aws = {"endpoint_url": endpoint, "region_name": region}
    airflow.connect("aws_default", conn_type="aws", login=keys.access_key, password=keys.secret_key, extra=aws)
    airflow.connect("plimsoll_ssh", conn_type="ssh", login=USER, extra={"private_key": keys.ssh_key})


def _direct(endpoint: str) -> dict[str, str]:
    """Return the environment that keeps Airflow from using a proxy to reach the cloud."""
    hosts = [os.environ.get("NO_PROXY", ""), "127.0.0.1", "localhost", str(urlsplit(endpoint).hostname)]
    return dict.fromkeys(("NO_PROXY", "no_proxy"), ",".join(filter(None, hosts)))


def _client(service: str, keys: Secrets, about: Mapping[str, Any]) -> Any:
    session: Any = boto3.session.Session()
    return session.client(
        service,
        endpoint_url=about["endpoint"],
        region_name=about["landscape"]["region"],
        aws_access_key_id=keys.access_key,
        aws_secret_access_key=keys.secret_key,
    )
