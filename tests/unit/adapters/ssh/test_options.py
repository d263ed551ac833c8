"""Options of static hosts."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError
from tests.fakes.installation import instant_definition
from tests.unit.adapters.ssh.host_key_line import LINE

from plimsoll.adapters.providers.ssh import Connections
from plimsoll.adapters.providers.ssh.checks import problems, shape
from plimsoll.adapters.providers.ssh.group import SshOptions
from plimsoll.adapters.secrets import EnvironmentSecrets
from plimsoll.domain.campaign.resolve import hosts_spec, resolve
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.process import NodeNeeds
from plimsoll.domain.keys.system import ProviderChoice


def host(number: Any, **changes: Any) -> dict[Any, Any]:
    return {"address": f"10.0.0.{number}", "host_key": LINE, **changes}


def group(name: str = "rack1", first: int = 1, **changes: Any) -> dict[Any, Any]:
    return {"name": name, "nodes": [host(first), host(first + 1)], "load": host(first + 2), **changes}


def spec(asked: Definition) -> HostsSpec:
    return hosts_spec(resolve(asked), NodeNeeds())


def test_a_host_is_reached_at_its_address_unless_another_is_given() -> None:
    options = SshOptions.model_validate({"groups": [group(load=host(9, ssh_address="bastion", port=2222, user="me"))]})
    (one,) = options.groups
    assert one.nodes[0].target("c").place == "10.0.0.1:22"
    assert one.load.target("c").place == "me@bastion:2222"


def test_true_is_no_port() -> None:
    options = {"groups": [group(load=host(9, port=True))]}
    chosen = {"provider": ProviderChoice(name="ssh", options=options)}
    [problem] = problems(
        spec(instant_definition().model_copy(update=chosen)), Connections(EnvironmentSecrets(None, ""))
    )
    assert problem.where == "provider.options.groups[0].load.port"
    assert problem.what == "must be a whole number; found true"


def test_a_host_is_in_one_group_only() -> None:
    with pytest.raises(ValidationError, match=r"more than one group: 10\.0\.0\.3:22"):
        SshOptions.model_validate({"groups": [group(first=1), group("rack2", first=3)]})


def test_one_machine_may_serve_two_groups_in_two_folders() -> None:
    SshOptions.model_validate({"groups": [group(), group("rack2", folder="/srv/second")]})


def test_names_differ() -> None:
    with pytest.raises(ValidationError, match="more than one group: rack1"):
        SshOptions.model_validate({"groups": [group(first=1), group(first=5)]})


@pytest.mark.parametrize(
    "folder",
    ["relative", "/", "~", "~other/a", "/a/~/b", "/a/../b", "/a/./b", "/with space", "/a:b", "/it's"],
)
def test_a_folder_that_could_be_misread_is_refused(folder: str) -> None:
    with pytest.raises(ValidationError, match="folder"):
        SshOptions.model_validate({"groups": [group()], "folder": folder})


def test_an_address_is_an_address() -> None:
    with pytest.raises(ValidationError, match="address"):
        SshOptions.model_validate({"groups": [group(load=host(9, address="db.example"))]})


def test_an_address_of_ipv6_is_refused_with_its_group() -> None:
    options = SshOptions.model_validate({"groups": [group(), group("rack2", 5, load=host(9, address="2001:db8::7"))]})
    one = instant_definition(parallel=1)
    small = one.model_copy(update={"system": one.system.model_copy(update={"nodes": 2})})
    for asked in (spec(small), replace(spec(small), nodes=0, node_hosts=0)):
        (problem,) = shape(asked, options)
        assert problem.where == "provider.options.groups[1]"
        assert problem.what == (
            "2001:db8::7 in group rack2 is an address of IPv6, at which neither databases nor load hosts' own programs "
            "listen"
        )


def test_a_group_may_have_further_load_hosts() -> None:
    options = SshOptions.model_validate({"groups": [group(further_load_hosts=[host(8), host(9)])]})
    assert [one.address for one in options.groups[0].loads] == ["10.0.0.3", "10.0.0.8", "10.0.0.9"]


def test_a_load_host_is_in_one_group_only() -> None:
    with pytest.raises(ValidationError, match="stands in more than one group"):
        SshOptions.model_validate({"groups": [group(), group("rack2", first=5, further_load_hosts=[host(3)])]})


def test_a_definition_with_more_load_hosts_than_any_group_has_is_refused_in_plain_words() -> None:
    definition = instant_definition(parallel=1)
    one = definition.model_copy(
        update={
            "system": definition.system.model_copy(update={"nodes": 2}),
            "load_generator": definition.load_generator.model_copy(update={"hosts": 3}),
        }
    )
    few = SshOptions.model_validate({"groups": [group(further_load_hosts=[host(9)])]})
    (problem,) = shape(spec(one), few)
    assert problem.where == "load_generator.hosts"
    assert problem.what == "no group of 2 nodes has 3 load hosts; the most that one has is 2"
    enough = SshOptions.model_validate({"groups": [group(further_load_hosts=[host(8), host(9)])]})
    assert not list(shape(spec(one), enough))


@pytest.mark.parametrize("number", [2, 3], ids=["a node", "the load host"])
def test_a_host_that_stands_twice_in_a_group_is_refused(number: int) -> None:
    options = SshOptions.model_validate({"groups": [group(further_load_hosts=[host(number)])]})
    one = instant_definition(parallel=1)
    small = one.model_copy(update={"system": one.system.model_copy(update={"nodes": 2})})
    (problem,) = shape(spec(small), options)
    assert problem.where == "provider.options.groups[0]"
    assert problem.what == f"10.0.0.{number} stands 2 times in group rack1: nodes and load hosts share none"


def test_hosts_of_a_group_may_be_addresses_of_one_machine() -> None:
    one = instant_definition(parallel=1)
    small = one.model_copy(update={"system": one.system.model_copy(update={"nodes": 2})})
    same = {"ssh_address": "10.0.0.1"}
    hosts = {"nodes": [host(1) | same, host(2) | same], "load": host(3) | same}
    assert not list(shape(spec(small), SshOptions.model_validate({"groups": [group() | hosts]})))


def test_groups_without_enough_load_hosts_do_not_count_for_cells_at_once() -> None:
    two = SshOptions.model_validate({"groups": [group(further_load_hosts=[host(9)]), group("rack2", first=5)]})
    one = instant_definition(parallel=2)
    changes = {
        "system": one.system.model_copy(update={"nodes": 2}),
        "load_generator": one.load_generator.model_copy(update={"hosts": 2}),
    }
    (problem,) = shape(spec(one.model_copy(update=changes)), two)
    assert problem.what == "2 cells at once need as many groups of 2 nodes and 2 load hosts; there are 1"
