"""`plimsoll clusters` lists and destroys."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn

import pytest
from tests.fakes.instant import InstantProvider
from tests.unit.cli.commands import Command, alive

from plimsoll.adapters.hosts.processes import LocalProcesses
from plimsoll.domain.hosts.cluster import HostInfo, HostsSilent, PartlySeen
from plimsoll.domain.hosts.owner import owner_words


def test_clusters_show_what_they_have_cost(plimsoll: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    alive(1)
    assert json.loads(plimsoll("clusters", "list", "--json")[1])[0]["usd_so_far"] == 0
    since = datetime.now(UTC) - timedelta(hours=2)
    priced = HostInfo(name="load", role="load", address="10.0.0.1", since=since, usd_per_hour=3.0)
    known = InstantProvider.clusters
    monkeypatch.setattr(
        InstantProvider,
        "clusters",
        lambda self: [cluster.model_copy(update={"hosts": (priced,)}) for cluster in known(self)],
    )
    assert json.loads(plimsoll("clusters", "list", "--json")[1])[0]["usd_so_far"] == pytest.approx(6, abs=0.1)
    for command in (("clusters", "list"), ("clusters",)):  # a tenth of a cent more for each second that the test takes
        assert re.search(r"\b6\.0\d+ USD", plimsoll(*command)[1])


def test_clusters_without_a_price_cost_nothing_only_where_that_is_sure(
    plimsoll: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive(1)
    assert "nothing" in plimsoll("clusters", "list")[1]
    monkeypatch.setenv("PLIMSOLL_TOOLKIT", "tests.unit.cli.commands:paid")
    assert "unknown" in plimsoll("clusters", "list")[1]


def test_clusters_that_could_be_seen_are_listed_although_others_could_not(
    plimsoll: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = str(alive(1))
    known = InstantProvider.clusters

    def partly(self: InstantProvider) -> NoReturn:
        raise PartlySeen("key pairs may not be listed", known(self))

    monkeypatch.setattr(InstantProvider, "clusters", partly)
    code, out, err = plimsoll("clusters", "list")
    assert code == 1
    assert key in out
    assert "key pairs may not be listed" in err


def test_hosts_that_could_not_be_asked_fail_a_list_and_the_destruction_of_all_but_not_of_one(
    plimsoll: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [str(alive(number)) for number in (1, 2)]
    known = InstantProvider.clusters

    def silent(self: InstantProvider) -> NoReturn:
        raise HostsSilent("group rack1 can't be asked", known(self))

    monkeypatch.setattr(InstantProvider, "clusters", silent)
    code, out, err = plimsoll("clusters", "list")
    assert (code, keys[0] in out, "group rack1 can't be asked" in err) == (1, True, True)
    assert plimsoll("clusters", "destroy", keys[0])[:2] == (0, f"destroyed {keys[0]}\n")
    code, out, err = plimsoll("clusters", "destroy", "--all")
    assert (code, out, err) == (1, f"destroyed {keys[1]}\n", "group rack1 can't be asked\n")
    assert plimsoll("clusters", "destroy", keys[0])[0] == 1


def test_clusters_are_listed_and_destroyed_one_by_one_or_all(plimsoll: Command) -> None:
    keys = [str(alive(number)) for number in (1, 2, 3)]
    listed = json.loads(plimsoll("clusters", "list", "--json")[1])
    assert [f"{c['id']['campaign_id']}/{c['id']['name']}" for c in listed] == keys
    code, out, _ = plimsoll("clusters", "destroy", keys[0], "--json")
    assert (code, json.loads(out)) == (0, {"destroyed": [keys[0]], "failed": {}, "unseen": []})
    assert json.loads(plimsoll("clusters", "destroy", "--all", "--json")[1])["destroyed"] == keys[1:]
    assert json.loads(plimsoll("clusters", "list", "--json")[1]) == []


def test_clusters_elsewhere_are_left_alone_when_asked_for_those_here(
    plimsoll: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = str(alive(1))
    monkeypatch.setattr("tests.fakes.instant.InstantProvider.is_local", False)
    output = plimsoll("clusters", "destroy", "--all", "--here", "--json")[1]
    assert json.loads(output) == {"destroyed": [], "failed": {}, "unseen": []}
    assert json.loads(plimsoll("clusters", "destroy", "--all", "--json")[1])["destroyed"] == [key]


def test_destroy_wants_one_cluster_or_all(plimsoll: Command) -> None:
    assert plimsoll("clusters", "destroy", "--here")[0] == 2
    assert plimsoll("clusters", "destroy")[0] == 2
    assert plimsoll("clusters", "destroy", "demo-1/g1-00200-r1/1", "--all")[0] == 2
    assert plimsoll("clusters", "destroy", "demo-1/g1-00200-r1/1", "--others")[0] == 2
    assert plimsoll("clusters", "destroy", "demo-1/g1-00200-r1/1", "--ended-airflow", "5f3a91c2d04b")[0] == 2


AIRFLOW = "airflow:demo-1__g1-00200-r1#0@5f3a91c2d04b"


@pytest.mark.parametrize("owner", [LocalProcesses().me(), AIRFLOW], ids=["process", "run"])
def test_clusters_on_which_somebody_works_are_left_alone_unless_the_others_are_asked_for(
    plimsoll: Command, owner: str
) -> None:
    mine, theirs = str(alive(1)), str(alive(2, owner))
    code, out, err = plimsoll("clusters", "destroy", "--all")
    assert (code, out) == (0, f"destroyed {mine}\n")
    assert f"{theirs} of {owner_words(owner)}, until " in err
    assert "`--others` destroys it too" in err
    assert json.loads(plimsoll("clusters", "destroy", "--all", "--json")[1])["kept"] == [theirs]
    code, out, err = plimsoll("clusters", "destroy", "--all", "--others")
    assert (code, out) == (0, f"destroyed {theirs}\n")
    assert f"{theirs} of {owner_words(owner)}, until " in err


def test_of_an_airflow_that_has_ended_no_cluster_is_spared_and_those_of_all_others_are(plimsoll: Command) -> None:
    owners = (AIRFLOW, AIRFLOW.replace("5f3a", "0000"), LocalProcesses().me())
    its, *theirs = (str(alive(number, owner)) for number, owner in enumerate(owners, 1))
    _, out, _ = plimsoll("clusters", "destroy", "--all", "--ended-airflow", "5f3a91c2d04b", "--json")
    assert json.loads(out) == {"destroyed": [its], "failed": {}, "unseen": [], "kept": theirs}


def test_one_cluster_is_destroyed_by_its_name_whoever_works_on_it(plimsoll: Command) -> None:
    key = str(alive(1, LocalProcesses().me()))
    assert plimsoll("clusters", "destroy", key)[:2] == (0, f"destroyed {key}\n")


def test_an_owner_of_whom_nothing_is_known_has_its_clusters_until_they_expire(
    plimsoll: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, known = str(alive(1, AIRFLOW)), InstantProvider.clusters
    expired = {"expires_at": datetime.now(UTC) - timedelta(minutes=1)}
    monkeypatch.setattr(
        InstantProvider, "clusters", lambda self: [one.model_copy(update=expired) for one in known(self)]
    )
    assert plimsoll("clusters", "destroy", "--all")[:2] == (0, f"destroyed {key}\n")


@pytest.mark.parametrize("what", [["--all"], ["--all", "--others"], ["demo-1/g1-00200-r1/1"]])
def test_a_dry_run_names_what_would_be_destroyed(plimsoll: Command, what: list[str]) -> None:
    keys = [str(alive(1)), str(alive(2, LocalProcesses().me()))]
    named = keys if "--others" in what else keys[:1]
    code, out, _ = plimsoll("clusters", "destroy", *what, "--dry-run")
    assert (code, out) == (0, "".join(f"would be destroyed: {key}\n" for key in named))
    assert len(json.loads(plimsoll("clusters", "list", "--json")[1])) == 2


def test_a_misspelt_cluster_is_no_cluster_that_is_gone(plimsoll: Command) -> None:
    key = alive(1)
    code, out, err = plimsoll("clusters", "destroy", "dmeo-1/g1-00200-r1/1")
    assert (code, out) == (2, "")
    assert "no campaign and no cluster has the name 'dmeo-1/g1-00200-r1/1'" in err
    assert f"did you mean '{key}'?" in err
    assert [one["id"]["name"] for one in json.loads(plimsoll("clusters", "list", "--json")[1])] == [key.name]


def test_a_cluster_that_resists_is_named_and_fails_the_command(plimsoll: Command, tmp_path: Path) -> None:
    key = alive(1)
    (tmp_path / "work" / "faults").mkdir(parents=True)
    (tmp_path / "work" / "faults" / key.purpose).write_text("destroy")
    code, out, _ = plimsoll("clusters", "destroy", "--all", "--json")
    assert code == 1
    assert "told to resist" in json.loads(out)["failed"][str(key)]


def test_a_cluster_of_which_only_a_keyspace_is_left_is_listed(
    plimsoll: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, known = str(alive(1)), InstantProvider.clusters
    monkeypatch.setattr(
        InstantProvider, "clusters", lambda self: [one.model_copy(update={"hosts": ()}) for one in known(self)]
    )
    code, out, _ = plimsoll("clusters", "list")
    assert (code, key in out, "none" in out) == (0, True, True)
