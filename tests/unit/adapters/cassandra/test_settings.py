from pathlib import PurePosixPath
from typing import Any

from ruamel.yaml import YAML

from plimsoll.adapters.products.cassandra.node import RESERVED, merged, node_settings
from plimsoll.adapters.products.cassandra.node_files import NodeFiles
from plimsoll.adapters.products.cassandra.release import CASSANDRA_4_0
from plimsoll.adapters.products.nodes.node_process import render

ADDRESSES = ("127.0.9.1", "127.0.9.2", "127.0.9.3")
FILES = NodeFiles(PurePosixPath("/hosts/node2"))


def settings(overrides: Any = None, node: int = 1) -> Any:
    rendered = render(node_settings(CASSANDRA_4_0, overrides or {}, FILES, ADDRESSES, node))
    return YAML(typ="safe").load(rendered)


def test_a_node_listens_on_its_own_address_and_knows_the_seed() -> None:
    node = settings()
    assert (node["listen_address"], node["rpc_address"]) == ("127.0.9.2", "127.0.9.2")
    assert node["seed_provider"][0]["parameters"] == [{"seeds": "127.0.9.1"}]
    assert node["cluster_name"] == settings(node=2)["cluster_name"]


def test_a_node_has_preset_tokens_and_streams_nothing() -> None:
    node = settings()
    assert len(node["initial_token"].split(",")) == node["num_tokens"] == 16
    assert node["auto_bootstrap"] is False


def test_tokens_follow_the_definition_s_number() -> None:
    assert len(settings({"num_tokens": 4})["initial_token"].split(",")) == 4


def test_everything_a_node_writes_lies_below_its_own_data_folder() -> None:
    node = settings()
    folders = [*node["data_file_directories"], *(node[key] for key in node if key.endswith("_directory"))]
    assert len(folders) == 5
    assert all(PurePosixPath(folder).is_relative_to(FILES.data) for folder in folders)


def test_what_is_shipped_beyond_the_code_s_defaults_is_there() -> None:
    node = settings()
    assert node["compaction_throughput_mb_per_sec"] == 64
    assert (node["disk_failure_policy"], node["commit_failure_policy"]) == ("stop", "stop")


def test_the_definition_s_settings_win_over_the_shipped_and_unknown_ones_pass() -> None:
    node = settings({"compaction_throughput_mb_per_sec": 16, "no_such_setting": 1})
    assert (node["compaction_throughput_mb_per_sec"], node["no_such_setting"]) == (16, 1)


def test_a_node_s_own_settings_win_over_all_and_are_reserved() -> None:
    everything = settings()
    assert settings({"listen_address": "10.0.0.1"}) == everything
    assert {key for key in everything if key not in CASSANDRA_4_0.settings} == RESERVED


def test_later_layers_win() -> None:
    assert merged({"a": 1, "b": 1}, {"b": 2}, {"c": 3}) == {"a": 1, "b": 2, "c": 3}
