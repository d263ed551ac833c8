"""The commands as a user gives them, on instant fakes behind the ports."""

import io
import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.fakes import instant
from tests.fakes.instant import InstantProvider
from tests.fakes.paid import Prices
from tests.support.campaigns.small_definition import SMALL

from plimsoll import cli
from plimsoll.adapters.providers.ec2 import Ec2Provider, Ec2Tariffs
from plimsoll.bootstrap import build_toolkit
from plimsoll.domain.cluster import ClusterId, ClusterRequest, HostInfo, HostsSilent, PartlySeen
from plimsoll.domain.errors import Problem, SecretError
from plimsoll.services.hosts.launches import StoredLaunches
from plimsoll.services.hosts.outage import Outage
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

DEMO = SMALL.read_text()
INSTANT = DEMO.replace("{name: local}", "{name: instant}").replace("cassandra\n  version", "instant\n  version")
INSTANT = INSTANT.replace("load_generator: {threads", "load_generator: {name: instant, threads")

Ended = tuple[int | str, str, str]
"""Exit code, standard output, standard error."""
Command = Callable[..., Ended]
"""Runs `plimsoll` with these arguments."""


@pytest.fixture(autouse=True)
def _installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIMSOLL_TOOLKIT", "tests.fakes.instant:toolkit")
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("PLIMSOLL_WORK", str(tmp_path / "work"))
    (tmp_path / "instant.yaml").write_text(INSTANT)


@pytest.fixture
def plimsoll(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run the command as the console script does."""

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr("sys.argv", ["plimsoll", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.app()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run


def test_the_published_campaign_is_planned_although_nobody_can_ask_its_provider(plimsoll: Command, cloud: None) -> None:
    code, out, _ = plimsoll("plan", "azul-2022", "--json")
    plan = json.loads(out)
    assert code == 2, "it would not run with the software that is here"
    assert plan["totals"]["cells"] == len(plan["cells"]) == 275
    assert plan["totals"]["cell_hours"] == 687.5
    assert "'ec2'" in plan["notes"][0]


def test_a_provider_that_does_not_exist_is_refused_with_the_name_that_was_meant(
    plimsoll: Command, tmp_path: Path
) -> None:
    (tmp_path / "typo.yaml").write_text(INSTANT.replace("{name: instant}\nmax", "{name: instnat}\nmax"))
    code, out, err = plimsoll("plan", tmp_path / "typo.yaml")
    assert code == 2
    assert "4 cells" in out
    assert "provider.name (line 44): there is no 'instnat' here (did you mean 'instant'? there is: instant)" in err


def test_a_schedule_that_can_not_be_kept_is_refused_with_its_line(plimsoll: Command, tmp_path: Path) -> None:
    (tmp_path / "cron.yaml").write_text(f"{INSTANT}schedule: 61 6 * * *\n")
    code, _, err = plimsoll("plan", tmp_path / "cron.yaml")
    assert code == 2
    assert "schedule (line 46): '61 6 * * *' is no cron expression (write five fields: minute, hour" in err
    code, _, err = plimsoll("run", tmp_path / "cron.yaml")
    assert (code, "schedule (line 46)" in err) == (2, True)


def test_a_campaign_of_weeks_is_planned_with_a_warning(plimsoll: Command, tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_text(INSTANT.replace("repeats: 1", "repeats: 30").replace("45s", "120015s"))
    code, out, _ = plimsoll("plan", tmp_path / "long.yaml")
    assert code == 0
    assert "Note: it takes at least 23.8 weeks under load, 1 cell at a time: raise `max_parallel`" in out
    (tmp_path / "long.yaml").write_text((tmp_path / "long.yaml").read_text() + "strategy: search\n")
    assert re.search(
        r"Note: it is likely to take \d+\.\d weeks under load, 1 cell", plimsoll("plan", tmp_path / "long.yaml")[1]
    )


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("latin.yaml", "title: Müller".encode("latin1"), "line 1: is not UTF-8 text: the byte 0xfc stands here"),
        ("marked.yaml", "title: Müller".encode("utf-16"), "the whole file: is UTF-16 text"),
        ("unmarked.yaml", "title: Müller".encode("utf-16-be"), "the whole file: is UTF-16 text"),
        ("empty.yaml", b"", "the whole file: is empty (write at least the keys name, title, system"),
        ("large.yaml", b"#" * (1 << 21), "the whole file: is larger than 1 MiB"),
        ("bytes.yaml", b"\x00\x01", "is not YAML: a character stands in it that no text has"),
    ],
)
def test_files_that_hold_no_definition_end_in_a_message(
    plimsoll: Command, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    for command in ("plan", "run", "import"):
        code, _, err = plimsoll(command, tmp_path / name)
        assert code == 2
        assert said.partition(" (")[0] in err


def test_a_folder_and_a_name_that_is_nearly_right_are_told_apart(plimsoll: Command, tmp_path: Path) -> None:
    assert "is a folder" in plimsoll("plan", tmp_path)[2]
    assert "there is no definition 'dem'\n  To mend it: did you mean 'demo'?" in plimsoll("plan", "dem")[2]


def test_the_plan_for_people_shows_matrix_hours_hosts_and_time(plimsoll: Command, cloud: None) -> None:
    code, out, _ = plimsoll("plan", "azul-2022", "--parallel", 55)
    assert code == 2, "it would not run with the software that is here"
    for text in ("275 cells", "687.5 cell-hours", "220 hosts", "120000/s", "shenandoah", "below 100ms"):
        assert text in out


def test_the_plan_of_a_ramp_shows_what_it_takes_at_least_and_short_hours_to_three_digits(
    plimsoll: Command, tmp_path: Path
) -> None:
    plain = re.sub(r"timing: .*", "timing: {duration: 25s, warmup: 5s}", (tmp_path / "instant.yaml").read_text())
    (tmp_path / "ramp.yaml").write_text(f"{plain}\nstrategy: ramp\n")
    code, out, _ = plimsoll("plan", tmp_path / "ramp.yaml")
    assert code == 0
    assert "  least: 2 cells, 0.0139 cell-hours under load, 0.0556 host-hours\n" in out


def test_the_plan_says_that_hosts_are_kept(plimsoll: Command, tmp_path: Path) -> None:
    plain = (tmp_path / "instant.yaml").read_text()
    (tmp_path / "kept.yaml").write_text(f"{plain}\ncluster_scope: campaign\n")
    code, out, _ = plimsoll("plan", tmp_path / "kept.yaml", "--parallel", 1)
    assert code == 0
    assert "1 cell at a time: 4 hosts kept for the campaign, " in out


def test_a_definition_that_can_run_here_has_no_note_but_that_its_load_is_low_for_p99_9(
    plimsoll: Command, tmp_path: Path
) -> None:
    code, out, _ = plimsoll("plan", tmp_path / "instant.yaml", "--json")
    assert code == 0
    assert json.loads(out)["notes"] == [
        "p99.9 of an interval of 10s is decided by fewer than 10 operations at 100 ops/s: 1,000 ops/s would do, or "
        "intervals of 100s at 100 ops/s"
    ]


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation that has the EC2 provider, but no credentials."""
    monkeypatch.setenv("PLIMSOLL_TOOLKIT", f"{__name__}:without_credentials")


def without_credentials(settings: Settings) -> Toolkit:
    tools = instant.toolkit(settings)
    secrets: Any = NoSecrets()
    connect: Any = None
    outage = Outage(tools.clock)
    ec2 = Ec2Provider(secrets, tools.clock, connect, "store", print, StoredLaunches(tools.store, outage))
    return replace(tools, providers={**tools.providers, "ec2": ec2}, tariffs={"ec2": Ec2Tariffs(secrets)})


class NoSecrets:
    """Implements the Secrets port where there is nothing."""

    def aws(self, connection_id: str) -> NoReturn:
        raise SecretError("there is no such connection", where=f"connection {connection_id!r}")


def test_without_credentials_the_plan_says_so_and_shows_what_the_campaign_costs(plimsoll: Command, cloud: None) -> None:
    code, out, err = plimsoll("plan", "azul-2022")
    assert code == 2, "it would not run"
    for text in ("1,421.75 USD", "r5d.2xlarge 0.576 USD/h", "256 vCPUs at once", "price table of 20", "Budget: 2,000"):
        assert text in out
    assert "'ec2' can't be asked from here, nothing was checked with it: connection 'aws_default'" in out
    azul = (Path(__file__).parents[3] / "include" / "campaigns" / "azul-2022.yaml").read_text().splitlines()
    line = azul.index("load_generator:") + 2
    assert azul[line - 1].strip().startswith("name: plimsoll-stress"), "the line that the problem is to name"
    assert f"load_generator.name (line {line}): there is no 'plimsoll-stress' here" in err


def test_problems_of_a_plan_come_last(cloud: None, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(sys, stream, terminal)
    monkeypatch.setattr(sys, "argv", ["plimsoll", "plan", "azul-2022"])
    with pytest.raises(SystemExit):
        cli.app()
    text = terminal.getvalue()
    assert 0 < text.rindex("\nNote: ") < text.index("\nplimsoll: definition 'azul-2022': refused")


def test_credentials_that_are_missing_are_no_problem_of_the_definition(
    plimsoll: Command, cloud: None, tmp_path: Path
) -> None:
    azul = (Path(__file__).parents[3] / "include" / "campaigns" / "azul-2022.yaml").read_text()
    instant = azul.replace("database: cassandra", "database: instant")
    (tmp_path / "cloud.yaml").write_text(instant.replace("name: plimsoll-stress", "name: instant"))
    code, out, err = plimsoll("plan", tmp_path / "cloud.yaml")
    assert err == ""
    assert code == 0
    assert "nothing was checked with it" in out


def test_the_plan_as_json_has_the_cost_and_who_says_so(plimsoll: Command, cloud: None) -> None:
    plan = json.loads(plimsoll("plan", "azul-2022", "--json")[1])
    assert plan["cost"]["usd"] == pytest.approx(1421.75)
    assert plan["cost"]["budget_usd"] == 2000
    assert plan["cost"]["tariff"]["node"] == {"kind": "r5d.2xlarge", "vcpus": 8, "usd_per_hour": 0.576}
    assert plan["totals"]["vcpus"] == 256


def test_what_a_campaign_would_take_is_shown_beside_what_keeps_it_from_running(
    plimsoll: Command, cloud: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem("provider.options.image", "there is no image", "name one")
    monkeypatch.setattr(Ec2Provider, "check", lambda *_: [problem])
    code, out, err = plimsoll("plan", "azul-2022")
    assert code == 2
    assert "1,421.75 USD" in out
    assert "there is no image" in err
    assert "there is no image" in json.loads(plimsoll("plan", "azul-2022", "--json")[1])["problems"][0]


def test_options_that_can_not_be_read_are_refused_without_a_price(
    plimsoll: Command, cloud: None, tmp_path: Path
) -> None:
    azul = (Path(__file__).parents[3] / "include" / "campaigns" / "azul-2022.yaml").read_text()
    (tmp_path / "moon.yaml").write_text(azul.replace("region: us-east-1", "region: moon"))
    code, out, err = plimsoll("plan", tmp_path / "moon.yaml")
    assert (code, out) == (2, "")
    assert "provider.options.region" in err


def test_where_hosts_cost_nothing_no_money_is_shown(plimsoll: Command, tmp_path: Path) -> None:
    _, out, _ = plimsoll("plan", tmp_path / "instant.yaml")
    assert "USD" not in out


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


def paid(settings: Settings) -> Toolkit:
    return replace(instant.toolkit(settings), tariffs={"instant": Prices()})


def test_clusters_without_a_price_cost_nothing_only_where_that_is_sure(
    plimsoll: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive(1)
    assert "nothing" in plimsoll("clusters", "list")[1]
    monkeypatch.setenv("PLIMSOLL_TOOLKIT", f"{__name__}:{paid.__name__}")
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


def test_a_wrong_definition_is_refused_with_exit_code_2(plimsoll: Command, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(INSTANT.replace("repeats: 1", "repeats: 0"))
    code, out, err = plimsoll("plan", tmp_path / "bad.yaml")
    assert code == 2
    assert out == ""
    assert "bad.yaml: refused" in err
    assert "repeats" in err


def test_an_unknown_definition_lists_those_there_are(plimsoll: Command) -> None:
    code, _, err = plimsoll("plan", "nothing")
    assert code == 2
    assert "azul-2022, azul-2022-search, datastax-2021, demo, local-azul, local-datastax, local-tlp, tlp-2020" in err


def test_a_store_that_cannot_be_written_is_refused_by_plan(
    plimsoll: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "file" / "store"))
    code, _, err = plimsoll("plan", tmp_path / "instant.yaml")
    assert code == 2
    assert "PLIMSOLL_STORE" in err


def test_an_unknown_campaign_is_an_error_that_says_how_to_find_one(plimsoll: Command, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    for name in ("demo-none", "../demo", "/demo"):
        code, _, err = plimsoll("status", name)
        assert code == 2
        assert f"there is no campaign '{name}'" in err
        assert "plimsoll campaigns" in err


def test_a_store_without_campaigns_is_said_to_have_none(plimsoll: Command, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    assert plimsoll("campaigns")[1].startswith(f"there are no campaigns in {tmp_path}")


def alive(number: int) -> ClusterId:
    key = ClusterId(campaign_id="demo-1", name=f"g1-00200-r{number}/1")
    request = ClusterRequest(id=key, owner="test", nodes=1, expires_at=datetime.now(UTC) + timedelta(hours=1))
    build_toolkit(Settings()).providers["instant"].ensure(request)
    return key


def test_clusters_are_listed_and_destroyed_one_by_one_or_all(plimsoll: Command) -> None:
    keys = [str(alive(number)) for number in (1, 2, 3)]
    listed = json.loads(plimsoll("clusters", "list", "--json")[1])
    assert [f"{c['key']['campaign_id']}/{c['key']['cell_id']}/{c['key']['attempt']}" for c in listed] == keys
    code, out, _ = plimsoll("clusters", "destroy", keys[0], "--json")
    assert (code, json.loads(out)) == (0, {"destroyed": [keys[0]], "failed": {}, "unseen": []})
    assert json.loads(plimsoll("clusters", "destroy", "--all", "--json")[1])["destroyed"] == keys[1:]
    assert json.loads(plimsoll("clusters", "list", "--json")[1]) == []


def test_clusters_elsewhere_are_left_alone_when_asked_for_those_here(
    plimsoll: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = str(alive(1))
    monkeypatch.setattr("tests.fakes.instant.InstantProvider.is_local", False)
    told = plimsoll("clusters", "destroy", "--all", "--here", "--json")[1]
    assert json.loads(told) == {"destroyed": [], "failed": {}, "unseen": []}
    assert json.loads(plimsoll("clusters", "destroy", "--all", "--json")[1])["destroyed"] == [key]


def test_destroy_wants_one_cluster_or_all(plimsoll: Command) -> None:
    assert plimsoll("clusters", "destroy", "--here")[0] == 2
    assert plimsoll("clusters", "destroy")[0] == 2
    assert plimsoll("clusters", "destroy", "demo-1/g1-00200-r1/1", "--all")[0] == 2


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


def test_the_version_is_told_with_a_digest_of_the_code(plimsoll: Command) -> None:
    code, out, _ = plimsoll("--version")
    assert code == 0
    assert re.fullmatch(r"plimsoll \d+\.\d+\.\d+\+[0-9a-f]{12}\n", out)


@pytest.mark.parametrize(
    "command",
    [["campaigns"], ["status", "c"], ["report", "c"], ["rejudge", "c"], ["bundle", "c"], ["compare", "a", "b"]],
    ids=lambda command: command[0],
)
def test_a_store_that_is_not_there_is_no_empty_list(
    plimsoll: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "nonexist"))
    code, out, err = plimsoll(*command)
    assert (code, out) == (2, "")
    assert f"{tmp_path / 'nonexist'}: there is no result store" in err
    assert "correct PLIMSOLL_STORE" in err
    assert not (tmp_path / "nonexist").exists()


def test_a_file_is_no_store_and_no_campaign_can_make_one_there(
    plimsoll: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "file"))
    code, _, err = plimsoll("campaigns")
    assert code == 2
    assert f"{tmp_path / 'file'}: is a file, not a result store" in err
    assert "makes a store" not in err


def test_the_first_campaign_makes_its_store_where_there_is_a_folder_for_it(
    plimsoll: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "no" / "where"))
    code, _, err = plimsoll("run", tmp_path / "instant.yaml")
    assert code == 2
    assert f"the result store can't be made: there is no folder for it (make the folder {tmp_path / 'no'}" in err
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "first"))
    assert plimsoll("plan", tmp_path / "instant.yaml")[0] == 0
    assert plimsoll("campaigns")[0] == 0


def test_settings_that_can_not_be_used_are_told_in_words(plimsoll: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIMSOLL_TOOLKIT", "nowhere:toolkit")
    code, _, err = plimsoll("plan", "demo")
    assert code == 2
    assert "PLIMSOLL_TOOLKIT or PLIMSOLL_SECRETS: 'nowhere:toolkit' is no factory" in err


def test_regions_that_are_none_are_told_in_words(plimsoll: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIMSOLL_REGIONS", "eu-west-1; us-east")
    code, _, err = plimsoll("clusters", "list")
    assert code == 2
    assert "PLIMSOLL_REGIONS: is not written as it must be; found 'eu-west-1; us-east'" in err
    assert "write a value like eu-west-1,us-east-1" in err


def test_the_list_of_campaigns_has_state_date_and_definition_of_each(plimsoll: Command, tmp_path: Path) -> None:
    assert plimsoll("run", tmp_path / "instant.yaml", "--new-campaign", "mine-1")[0] == 0
    code, out, _ = plimsoll("campaigns", "list")
    assert code == 0
    assert re.search(r"│ mine-1 +│ complete +│ \d{4}-\d\d-\d\d \d\d:\d\d UTC │ demo +│", out)
    [one] = json.loads(plimsoll("campaigns", "list", "--json")[1])
    assert (one["campaign_id"], one["state"], one["definition"], one["note"]) == ("mine-1", "complete", "demo", "")
    assert one["started_at"]


def test_a_campaign_that_can_not_be_read_is_named_beside_the_others(plimsoll: Command, tmp_path: Path) -> None:
    assert plimsoll("run", tmp_path / "instant.yaml", "--new-campaign", "mine-1")[0] == 0
    (tmp_path / "store" / "torn").mkdir()
    (tmp_path / "store" / "torn" / "definition.yaml").write_text("name: [")
    code, out, err = plimsoll("campaigns")
    assert code == 1
    assert "mine-1" in out
    assert "torn: " in err
    assert [one["campaign_id"] for one in json.loads(plimsoll("campaigns", "--json")[1])] == ["mine-1"]


def test_names_in_tables_are_not_cut_in_a_pipe(plimsoll: Command, tmp_path: Path) -> None:
    campaign = f"a-campaign-with-{'-'.join(['a-long-name'] * 4)}"
    long = INSTANT.replace("id: shenandoah", f"id: {'collector-' * 3}a").replace("name: demo", f"name: {'d-' * 20}o")
    (tmp_path / "long.yaml").write_text(long.replace("title: G1", f"title: {'Very ' * 40}G1"))
    assert plimsoll("run", tmp_path / "long.yaml", "--new-campaign", campaign)[0] == 0
    out = plimsoll("campaigns")[1]
    assert campaign in out
    assert "Very " * 40 in out
    assert f"{'d-' * 20}o" in out


def test_a_campaign_and_a_cell_that_are_nearly_right_are_named(plimsoll: Command, tmp_path: Path) -> None:
    assert plimsoll("run", tmp_path / "instant.yaml", "--new-campaign", "nearest-1")[0] == 0
    assert "did you mean 'nearest-1'? `plimsoll campaigns` lists" in plimsoll("status", "nearst-1")[2]
    wrong = plimsoll("run", tmp_path / "instant.yaml", "--campaign", "nearest-1", "--cell", "g1-00100-r2")[2]
    assert "did you mean 'g1-00100-r1'?" in wrong


def test_a_misspelt_campaign_is_not_begun_and_a_new_one_is_no_old_one(plimsoll: Command, tmp_path: Path) -> None:
    assert plimsoll("run", tmp_path / "instant.yaml", "--new-campaign", "nearest-1")[0] == 0
    for options, told in (
        (
            ["--campaign", "nearst-1"],
            "did you mean 'nearest-1'? a new campaign with this id begins with `--new-campaign nearst-1`",
        ),
        (["--new-campaign", "nearest-1"], "`--campaign nearest-1` continues it"),
        (["--campaign", "nearest-1", "--new-campaign", "second-1"], "give one of them"),
    ):
        code, out, err = plimsoll("run", tmp_path / "instant.yaml", *options)
        assert (code, out) == (2, "")
        assert told in err
    assert [one["campaign_id"] for one in json.loads(plimsoll("campaigns", "--json")[1])] == ["nearest-1"]


def test_a_run_is_refused_for_cells_and_campaigns_of_another_definition_before_it_begins(
    plimsoll: Command, tmp_path: Path
) -> None:
    (tmp_path / "other.yaml").write_text(INSTANT.replace("name: demo", "name: other").replace("seed: 1", "seed: 2"))
    assert plimsoll("run", tmp_path / "instant.yaml", "--new-campaign", "mine-1")[0] == 0
    before = plimsoll("status", "mine-1", "--json")[1]
    code, out, err = plimsoll("run", tmp_path / "other.yaml", "--campaign", "mine-1")
    assert (code, out) == (2, "")
    assert "mine-1" in err
    assert "belongs to another definition" in err
    code, out, err = plimsoll("run", tmp_path / "instant.yaml", "--campaign", "mine-1", "--cells", "zgc-*")
    assert (code, out) == (2, "")
    assert "'zgc-*' fits no cell of 'demo'" in err
    assert plimsoll("status", "mine-1", "--json")[1] == before


def test_a_run_ends_with_the_answer(plimsoll: Command, tmp_path: Path) -> None:
    code, out, _ = plimsoll("run", tmp_path / "instant.yaml", "--new-campaign", "mine-1")
    assert code == 0
    assert "carry" in out
    assert "its worst interval was" in out
    assert re.search(r"^report: \S+/mine-1/report/report.html$", out, re.M)
    assert plimsoll("report", "mine-1")[1].splitlines()[-12:] == out.splitlines()[-12:]
