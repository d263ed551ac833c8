"""`cassandra.yaml` of one node. The definition's settings replace the release's; the node's own replace both."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from plimsoll.adapters.products.cassandra.node_files import NodeFiles
from plimsoll.adapters.products.cassandra.release import Release
from plimsoll.adapters.products.cassandra.tokens import initial_tokens

STORAGE_PORT, NATIVE_PORT = 7000, 9042
PORTS = (STORAGE_PORT, NATIVE_PORT)
TOKENS = "num_tokens"

_FOLDERS = ("commitlog", "hints", "saved_caches", "cdc_raw")

RESERVED = frozenset(
    {
        "cluster_name",
        "seed_provider",
        "listen_address",
        "rpc_address",
        "storage_port",
        "native_transport_port",
        "start_native_transport",
        "auto_bootstrap",
        "initial_token",
        "data_file_directories",
        *(f"{folder}_directory" for folder in _FOLDERS),
    }
)
"""Settings that Plimsoll writes for each node. A definition can't set them."""


def merged(*layers: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the settings of all layers. Where layers contradict each other, the later one counts."""
    return {key: value for layer in layers for key, value in layer.items()}


def node_settings(
    release: Release, overrides: Mapping[str, JsonValue], files: NodeFiles, addresses: Sequence[str], node: int
) -> dict[str, JsonValue]:
    """Return all settings of node number `node`, counted from 0, of a new cluster with these addresses, the seed's
    first.
    """
    settings = merged(release.settings, overrides)
    tokens = initial_tokens(node, nodes=len(addresses), tokens_per_node=int(str(settings[TOKENS])))
    # There is nothing to stream, because all nodes of the cluster are new.
    new: dict[str, JsonValue] = {"auto_bootstrap": False, "initial_token": ",".join(map(str, tokens))}
    return merged(settings, _own(files, addresses[0], addresses[node]), new)


def joining_settings(
    settings: Mapping[str, JsonValue], files: NodeFiles, seed: str, address: str
) -> dict[str, JsonValue]:
    """Return all settings of a new node at `address` that joins the seed's cluster; `settings`: those of any node."""
    return merged(settings, _own(files, seed, address), {"auto_bootstrap": True})


def _own(files: NodeFiles, seed: str, address: str) -> dict[str, JsonValue]:
    """Return the settings that tell nodes of a cluster apart, and clusters."""
    return {
        "cluster_name": f"plimsoll {seed}",
        "seed_provider": [
            {
                "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
                "parameters": [{"seeds": seed}],  # 3.11 takes no port here; it is `storage_port`
            }
        ],
        "listen_address": address,
        "rpc_address": address,
        "storage_port": STORAGE_PORT,
        "native_transport_port": NATIVE_PORT,
        "start_native_transport": True,
        "data_file_directories": [str(files.data / "tables")],
        **{f"{folder}_directory": str(files.data / folder) for folder in _FOLDERS},
    }
