"""The Params of the DAGs: what the UI's form shows and what Airflow accepts."""

import pytest
from airflow.sdk import Param
from airflow.sdk.definitions.param import ParamsDict
from tests.fakes.installation import instant_definition

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.parameters import Parameter
from plimsoll.domain.keys.strategy import Search
from plimsoll.domain.keys.trigger import Trigger
from plimsoll.domain.keys.workload import NamedWorkload
from plimsoll.domain.text.errors import Refused
from plimsoll.services.campaign.open.request import Request, given_values, read_request
from plimsoll_airflow.dags.campaigns import campaign_doc
from plimsoll_airflow.dags.forms import campaign_params, cell_params, reaper_params
from plimsoll_airflow.internals.moved import ParamValidationError

DEFINITION = instant_definition(variants=2, loads=3, repeats=2)


def accepted(values: dict[str, object]) -> dict[str, object]:
    params = ParamsDict(dict(campaign_params(resolve(DEFINITION))))
    params.update(values)
    valid: dict[str, object] = params.validate()
    return valid


def accepted_by_cell(values: dict[str, str]) -> dict[str, object]:
    params = ParamsDict(dict(cell_params()))
    params.update(values)
    valid: dict[str, object] = params.validate()
    return valid


@pytest.mark.parametrize("params", [campaign_params(resolve(DEFINITION)), reaper_params()], ids=["campaign", "reaper"])
def test_the_form_can_be_sent_as_it_opens(params: dict[str, Param]) -> None:
    """Airflow's form takes a field for required whose type does not name `null`, and does not send it empty."""
    for name, param in params.items():
        assert param.value not in (None, "", []) or "null" in param.schema["type"], name


def test_nothing_needs_to_be_filled_in_and_the_defaults_ask_for_everything_missing() -> None:
    assert read_request(resolve(DEFINITION), accepted({})) == Request(parallel=DEFINITION.max_parallel)


@pytest.mark.parametrize("empty", [None, ""])
def test_a_field_that_somebody_empties_asks_for_what_its_default_asks_for(empty: str | None) -> None:
    emptied = dict.fromkeys(campaign_params(resolve(DEFINITION))) | {"campaign_id": empty, "cells": empty}

    assert read_request(resolve(DEFINITION), accepted(emptied)) == Request()


def test_every_param_has_a_title_and_says_what_it_does() -> None:
    for params in (campaign_params(resolve(DEFINITION)), cell_params(), reaper_params()):
        for name, param in params.items():
            assert param.schema["title"], name
            assert len(param.schema["description_md"]) > 10, name
            # The form draws inline code as boxes that cover the lines above and below them.
            assert "`" not in param.schema["description_md"], name


def test_what_is_to_be_typed_stands_in_the_form_as_it_is() -> None:
    about = campaign_params(resolve(DEFINITION))["cells"].schema["description_md"]
    assert r"such as **v1-\*-r1**" in about
    assert r"**max\_parallel**" in campaign_params(resolve(DEFINITION))["parallel"].schema["description_md"]


def test_the_form_of_a_search_says_when_further_rounds_follow() -> None:
    search = DEFINITION.model_copy(update={"strategy": Search()})

    descriptions = [campaign_params(resolve(one))["cells"].schema["description_md"] for one in (DEFINITION, search)]

    assert ["Further rounds follow" in one for one in descriptions] == [False, True]


def test_choices_are_the_definitions_own() -> None:
    params = campaign_params(resolve(DEFINITION))

    assert params["variants"].schema["items"]["enum"] == ["v1", "v2"]
    assert params["loads"].schema["values_display"] == {
        "1000/s": "1,000 ops/s",
        "2000/s": "2,000 ops/s",
        "3000/s": "3,000 ops/s",
    }
    assert params["repeats"].schema["examples"] == ["r1", "r2"]


@pytest.mark.parametrize(
    "values",
    [
        {"campaign_id": "demo-20260131t120000"},
        {"cells": "failed"},
        {"cells": "invalid"},
        {"cells": "v1-001k-r1"},
        {"cells": "v1-001k-r1, v2-*-r[12]"},
        {"variants": ["v2"], "loads": ["1000/s"], "repeats": ["r1", "r2"]},
    ],
)
def test_what_a_person_asks_for_is_accepted_as_a_request(values: dict[str, object]) -> None:
    request = read_request(resolve(DEFINITION), accepted({"parallel": 1, **values}))
    assert request.model_dump(exclude_defaults=True).keys() == {"parallel", *values}


@pytest.mark.parametrize(
    "values",
    [
        {"campaign_id": "No Spaces"},
        {"campaign_id": "../etc"},
        {"campaign_id": "a" * 101},
        {"cells": " "},
        {"cells": "failed\n"},
        {"cells": "v1-001k-r9"},
        {"cells": "v1-001k-r1 v3-001k-r1"},
        {"cells": "v1-001k-r1\n"},
        {"campaign_id": "demo\n"},
        {"campaign_id": "\n"},
        {"cells": "v1;rm"},
        {"variants": ["g1"]},
        {"loads": ["1001/s"]},
        {"repeats": [1]},
        {"repeats": ["r1", "r1"]},
        {"parallel": 0},
        {"parallel": 5},
    ],
)
def test_anything_else_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ParamValidationError):
        accepted(values)


@pytest.mark.parametrize(("name", "value"), [("campaign_id", "demo\n"), ("cell_id", "g1-040k-r3\n")])
def test_a_cell_takes_ids_and_no_line_breaks(name: str, value: str) -> None:
    conf = {"campaign_id": "demo", "cell_id": "g1-040k-r3"}
    assert accepted_by_cell(conf) == conf

    with pytest.raises(ParamValidationError):
        accepted_by_cell({**conf, name: value})


def test_a_cell_can_not_be_run_without_saying_which() -> None:
    with pytest.raises(ParamValidationError):
        ParamsDict(dict(cell_params())).validate()


def test_the_documentation_shows_the_matrix() -> None:
    doc = campaign_doc(DEFINITION)

    assert "**12 cells**: 2 variants × 3 load levels × 2 repeats, 4 at a time at most" in doc
    assert "| `v1`  | openjdk-11.0.13, G1 | 512M | instant 4.0.1 |" in doc
    assert "p99.9 of every 10s interval below 100ms" in doc
    assert "80% writes" in doc


def test_the_documentation_says_what_clients_speak_where_that_differs() -> None:
    one, *_ = DEFINITION.variants
    other = one.model_copy(update={"id": "h", "product": "hbase", "version": "2.6.4"})
    doc = campaign_doc(DEFINITION.model_copy(update={"variants": (one, other)}))

    assert "\n- clients of hbase speak hbase: regions 8, block_encoding NONE, compression NONE\n- provider" in doc
    assert "clients of" not in campaign_doc(DEFINITION)


@pytest.mark.parametrize(
    ("scope", "hosts"),
    [
        ("cell", "each on a fresh cluster of 3 nodes"),
        ("variant", "those of a variant on a cluster of 3 nodes that is kept for the variant"),
        ("campaign", "all on a cluster of 3 nodes that is kept for the campaign"),
    ],
)
def test_the_documentation_says_on_which_hosts_cells_run(scope: str, hosts: str) -> None:
    definition = DEFINITION.model_copy(update={"cluster_scope": scope, "max_parallel": 1})
    assert f"1 at a time at most, {hosts}.\n" in campaign_doc(definition)


def test_of_nodes_that_somebody_else_runs_nothing_is_promised() -> None:
    options = {"contact_points": ["db"], "data_centre": "dc1", "keyspace": "bench"}
    theirs = {
        "name": "theirs",
        "title": "Theirs",
        "system": {"database": "external", "nodes": 3},
        "variants": [{"id": "a"}],
        "loads": ["1k/s"],
        "workload": {"name": "KeyValue", "rows": 10},
        "timing": {"duration": "10m", "warmup": "2m"},
        "stop_when": [{"errors": "5%", "within": "10s"}],
        "provider": {"name": "external", "options": options},
    }
    doc = campaign_doc(Definition.model_validate(theirs))
    assert "1 at a time at most, each on 3 nodes that somebody else runs.\n" in doc
    assert "| not known |" in doc


def with_parameters() -> Campaign:
    parameters = {
        "version": Parameter(type="text", default="4.0.1", description="Release under test"),
        "rate": Parameter(type="number", default=1000, at_least=100, at_most=9000),
        "collector": Parameter(type="choice", default="G1", of=("G1", "ZGC", 1)),
    }
    return resolve(DEFINITION.model_copy(update={"parameters": parameters}))


def test_the_form_of_a_campaigns_own_copy_names_the_value_in_place() -> None:
    kept = {"version": Parameter(type="text", default="4.0.1", value="5.0.9")}
    form = campaign_params(resolve(DEFINITION.model_copy(update={"parameters": kept})))

    assert "Empty: **5.0.9**, or" in form["parameter_version"].schema["description_md"]


def test_the_form_has_a_field_for_each_parameter_that_may_stay_empty() -> None:
    form = campaign_params(with_parameters())
    params = ParamsDict(dict(form))

    assert "Release under test. Empty: **4.0.1**, or the value" in form["parameter_version"].schema["description_md"]
    assert given_values(params.validate()) == {}
    given = {"parameter_version": "4.1.10", "parameter_rate": 200, "parameter_collector": "ZGC"}
    params.update(given)
    assert given_values(params.validate()) == {"version": "4.1.10", "rate": 200, "collector": "ZGC"}


@pytest.mark.parametrize(
    "values",
    [
        {"parameter_version": "4.1; id"},
        {"parameter_version": "4.1\n"},
        {"parameter_rate": 99},
        {"parameter_rate": "200"},
        {"parameter_collector": "CMS"},
    ],
)
def test_the_form_refuses_values_that_do_not_fit(values: dict[str, object]) -> None:
    params = ParamsDict(dict(campaign_params(with_parameters())))
    with pytest.raises(ParamValidationError):
        params.update(values)


def test_where_values_may_give_other_cells_the_form_leaves_their_check_to_the_plan() -> None:
    """Rounds of a search, and *Run again*, name the cells of the campaign, whose loads the defaults may not have."""
    params = ParamsDict(dict(campaign_params(with_parameters())))
    params.update({"cells": "v1-009k-r1", "loads": ["9000/s"]})

    assert params.validate()["loads"] == ["9000/s"]
    with pytest.raises(Refused, match="fits no cell"):
        read_request(with_parameters(), {"cells": "v1-009k-r1"})


def test_the_documentation_names_the_asset_that_begins_campaigns() -> None:
    triggered = DEFINITION.model_copy(update={"trigger": Trigger(asset="database-release")})

    assert "\n- begins by: an event of the asset `database-release`\n" in campaign_doc(triggered)


def test_the_form_of_several_workloads_lets_one_choose_among_them() -> None:
    workloads = tuple(NamedWorkload.model_validate({"id": name}) for name in ("kv", "series"))
    definition = DEFINITION.model_copy(update={"workloads": workloads})
    params = ParamsDict(dict(campaign_params(resolve(definition))))
    params.update({"workloads": ["kv"], "cells": "v1-kv-001k-r1 v2-series-*"})

    assert read_request(resolve(definition), params.validate()).workloads == ("kv",)
    assert "workloads" not in campaign_params(resolve(DEFINITION))
    with pytest.raises(ParamValidationError):
        params.update({"cells": "v1-001k-r1"})
    doc = campaign_doc(definition)
    assert "**24 cells**: 2 variants × 2 workloads × 3 load levels × 2 repeats" in doc
    assert "workloads: `kv` (BasicTimeSeries, 80% writes); `series` (BasicTimeSeries, 80% writes)" in doc
