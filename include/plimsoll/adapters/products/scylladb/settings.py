"""`scylla.yaml` of one node, and the settings that are options of its command. The node's own settings come last."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import Field, JsonValue
from ruamel.yaml import YAML

from plimsoll.adapters.products.scylladb.node_files import NodeFiles
from plimsoll.domain.base import Model
from plimsoll.domain.fingerprint import HostFacts
from plimsoll.domain.units import Size

STORAGE_PORT, NATIVE_PORT, SHARD_AWARE_PORT, API_PORT, METRICS_PORT = 7000, 9042, 19042, 10000, 9180
PORTS = (STORAGE_PORT, NATIVE_PORT, SHARD_AWARE_PORT, API_PORT, METRICS_PORT)

DEVELOPER_MODE = "developer_mode"
RESERVED = frozenset(
    {
        "cluster_name",
        "seed_provider",
        "listen_address",
        "rpc_address",
        "api_address",
        "prometheus_address",
        "storage_port",
        "native_transport_port",
        "native_shard_aware_transport_port",
        "api_port",
        "prometheus_port",
        "workdir",
        "api_ui_dir",
        "api_doc_dir",
    }
)
"""Settings that Plimsoll writes for each node. A definition can't set them."""


class CommandOptions(Model):
    """Settings that ScyllaDB takes on its command line only. Without `smp` and `memory` it takes the whole host."""

    smp: Annotated[int | None, Field(ge=1, strict=True)] = None
    memory: Annotated[Size | None, Field(ge=1 << 30)] = None
    overprovisioned: Annotated[bool, Field(strict=True)] = False
    io_properties: dict[str, JsonValue] | None = None


def command_options(settings: Mapping[str, JsonValue]) -> CommandOptions:
    """Return the options among these settings. Raises pydantic's ValidationError."""
    return CommandOptions.model_validate({key: settings[key] for key in CommandOptions.model_fields if key in settings})


def shipped(home: Path) -> dict[str, JsonValue]:
    """Return the settings of `conf/scylla.yaml` in the archive."""
    path = home / "conf" / "scylla.yaml"
    return YAML(typ="safe", pure=True).load(path.read_bytes()) or {} if path.is_file() else {}


@dataclass(frozen=True)
class NodePlace:
    """The place of one node of a new cluster.

    `addresses`: those of all nodes, the seed's first; `own_loopback`: the address where its own host alone reaches its
    REST API and its metrics, neither of which asks for a password. `sharing`: how many nodes run on its machine.
    """

    files: NodeFiles
    installation: PurePosixPath
    addresses: Sequence[str]
    address: str
    own_loopback: str
    facts: HostFacts
    sharing: int


def node_settings(layers: Sequence[Mapping[str, JsonValue]], place: NodePlace) -> dict[str, JsonValue]:
    """Return the settings of one node: those of all layers, of which later ones replace earlier ones, and its own."""
    given = {key: value for layer in layers for key, value in layer.items() if key not in CommandOptions.model_fields}
    seeds: JsonValue = {
        "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
        "parameters": [{"seeds": place.addresses[0]}],
    }
    return {
        DEVELOPER_MODE: place.sharing > 1,
        **given,
        "cluster_name": f"plimsoll {place.addresses[0]}",
        "seed_provider": [seeds],
        "listen_address": place.address,
        "rpc_address": place.address,
        "api_address": place.own_loopback,
        "prometheus_address": place.own_loopback,
        "storage_port": STORAGE_PORT,
        "native_transport_port": NATIVE_PORT,
        "native_shard_aware_transport_port": SHARD_AWARE_PORT,
        "api_port": API_PORT,
        "prometheus_port": METRICS_PORT,
        "workdir": str(place.files.data),
        "api_ui_dir": f"{place.installation}/swagger-ui/dist/",
        "api_doc_dir": f"{place.installation}/api/api-doc/",
    }


def shard_options(settings: Mapping[str, JsonValue], place: NodePlace) -> tuple[str, ...]:
    """Return the options for shards and memory.

    Nodes that share a machine get equal shares of it, of which one is left to the load generator, and neither poll nor
    pin its processors.
    """
    options = command_options(settings)
    if place.sharing > 1:
        part = place.sharing + 1
        own = {"smp": max(1, place.facts.cpus // part), "memory": place.facts.memory_bytes // part}
        given = {key: getattr(options, key) for key in options.model_fields_set}
        options = options.model_copy(update={**own, "overprovisioned": True, **given})
    shards = () if options.smp is None else ("--smp", str(options.smp))
    memory = () if options.memory is None else ("--memory", f"{options.memory >> 20}M")
    return (*shards, *memory, *(("--overprovisioned",) if options.overprovisioned else ()))
