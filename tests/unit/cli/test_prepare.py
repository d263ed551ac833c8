"""`plimsoll prepare` with sound and faulty definitions side by side: what is sound is prepared."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import instant
from tests.fakes.instant import InstantLoadGenerator, InstantProduct
from tests.fakes.instant.faults import Faults
from tests.support.campaigns.small_definition import SMALL
from tests.unit.cli.commands import run_command

from plimsoll.domain.campaign.specs import LoadSpec, ProductSpec
from plimsoll.domain.keys.variant import Download
from plimsoll.domain.text.errors import ArtefactError, UntrustedServer

SHIPPED = Path(__file__).parents[3] / "include" / "campaigns"
DEMO = SMALL.read_text()
FAULTY = "name: faulty\nrepeats: none\n"


class Shelf(InstantProduct):
    """Has what release 4.0.1 needs, and nothing else."""

    def prepare(self, spec: ProductSpec) -> None:
        if (version := spec.variants[0].version) != "4.0.1":
            raise ArtefactError("there is no such release", where=f"Cassandra {version}")


class Weighed(Shelf):
    """Tells what it downloads, too. Not a patch of `Shelf`, which would count as telling that for ever."""

    def downloads(self, definition: Any) -> list[Download]:
        database = Download(name="cassandra", size_bytes=46_000_000, is_there=False)
        jdk = Download(name=f"JDK of {definition.name}", size_bytes=len(definition.name) * 10**6, is_there=False)
        return [database, jdk, Download(name="compiler", size_bytes=3_000_000, is_there=True)]


class Noting(InstantLoadGenerator):
    """Tells what it is prepared for."""

    def prepare(self, spec: LoadSpec) -> None:
        print(f"a load generator for {spec.name}")


def toolkit(settings: Any, shelf: type[Shelf] = Shelf) -> Any:
    tools, faults = instant.toolkit(settings), Faults(settings.work / "faults")
    products = {"cassandra": shelf(faults), "other": InstantProduct(faults, "other")}
    generators = {"plimsoll-stress": InstantLoadGenerator(faults), "noting": Noting(faults)}
    providers = dict.fromkeys(("local", "also-here"), tools.providers["instant"])
    return replace(tools, providers=providers, products=products, load_generators=generators)


def weighed(settings: Any) -> Any:
    return toolkit(settings, Weighed)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLIMSOLL_TOOLKIT", f"{__name__}:toolkit")
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("PLIMSOLL_CACHE", "/the/cache")
    campaigns = tmp_path / "campaigns"
    campaigns.mkdir()
    monkeypatch.setenv("PLIMSOLL_CAMPAIGNS", str(campaigns))
    return campaigns


@pytest.fixture
def prepare(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run the command as the console script does: exit code, standard output, standard error."""
    return partial(run_command, monkeypatch, capsys, "prepare")


def test_sound_ones_alone_are_prepared_in_silence(folder: Path, prepare: Callable[..., Any]) -> None:
    (folder / "demo.yaml").write_text(DEMO)
    shutil.copy(SHIPPED / "azul-2022.yaml", folder)
    assert prepare() == (0, "all artefacts are ready in /the/cache\n", "")


def test_a_faulty_one_is_named_with_its_problem_and_stops_nothing(folder: Path, prepare: Callable[..., Any]) -> None:
    (folder / "demo.yaml").write_text(DEMO)
    (folder / "a-faulty.yaml").write_text(FAULTY)
    (folder / "unknown-release.yaml").write_text(
        DEMO.replace("name: demo", "name: unknown-release").replace("4.0.1", "4.0.99")
    )
    code, out, err = prepare()
    assert code == 0
    assert out == "artefacts of demo are ready in /the/cache; not of a-faulty, unknown-release\n"
    assert "plimsoll: a-faulty is not prepared: " in err
    assert "repeats" in err
    assert "plimsoll: unknown-release is not prepared: Cassandra 4.0.99: there is no such release" in err


def test_one_that_was_asked_for_fails_the_command_after_the_others(folder: Path, prepare: Callable[..., Any]) -> None:
    (folder / "demo.yaml").write_text(DEMO)
    (folder / "faulty.yaml").write_text(FAULTY)
    code, out, err = prepare("faulty", "demo")
    assert (code, out) == (2, "artefacts of demo are ready in /the/cache; not of faulty\n")
    assert "faulty is not prepared" in err
    assert prepare("nonesuch")[0] == 2


def test_the_load_generator_of_a_campaign_without_cassandra_is_prepared_too(
    folder: Path, prepare: Callable[..., Any]
) -> None:
    other = DEMO.replace("name: demo", "name: other").replace("database: cassandra", "database: other")
    (folder / "other.yaml").write_text(other.replace("load_generator: {", "load_generator: {name: noting, "))
    assert prepare() == (0, "a load generator for other\nall artefacts are ready in /the/cache\n", "")


def test_where_nothing_could_be_had_the_command_fails(folder: Path, prepare: Callable[..., Any]) -> None:
    (folder / "demo.yaml").write_text(DEMO.replace("4.0.1", "4.0.99"))
    code, out, err = prepare()
    assert (code, out) == (2, "")
    assert "there is no such release" in err


def test_at_the_first_certificate_that_is_refused_it_ends(
    folder: Path, prepare: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Shelf, definition: Any) -> None:
        raise UntrustedServer("the server's certificate is of no authority", where=definition.name, mend="set X")

    monkeypatch.setattr(Shelf, "prepare", refused)
    (folder / "demo.yaml").write_text(DEMO)
    (folder / "later.yaml").write_text(DEMO.replace("name: demo", "name: later"))
    code, out, err = prepare()
    assert (code, out) == (2, "")
    assert err.count("certificate") == 1
    assert "demo" in err


def test_how_much_is_fetched_is_said_before_with_what_takes_less(
    folder: Path, prepare: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIMSOLL_TOOLKIT", f"{__name__}:weighed")
    (folder / "demo.yaml").write_text(DEMO)
    (folder / "larger.yaml").write_text(DEMO.replace("name: demo", "name: larger"))
    _, out, _ = prepare()
    first, second, *_ = out.splitlines()
    assert first == (
        "To download before the first cell, 56 MB: cassandra (46 MB), JDK of demo (4 MB), JDK of larger (6 MB). What "
        "is fetched is kept in /the/cache"
    )
    assert second == "To fetch less, name definitions: `plimsoll prepare demo`, or `make up CAMPAIGN=demo`: 50 MB"
    _, out, _ = prepare("larger")
    assert out.startswith("To download before the first cell, 52 MB: cassandra (46 MB), JDK of larger (6 MB)")
    assert "To fetch less" not in out


def test_a_folder_of_faulty_ones_alone_does_not_keep_airflow_from_starting(
    folder: Path, prepare: Callable[..., Any]
) -> None:
    (folder / "faulty.yaml").write_text(FAULTY)
    code, out, err = prepare()
    assert (code, out) == (0, "")
    assert "faulty is not prepared" in err


def test_where_no_definition_runs_here_nothing_is_missing(folder: Path, prepare: Callable[..., Any]) -> None:
    assert prepare()[0] == 0


def test_definitions_run_here_if_their_provider_says_so_whatever_its_name(
    folder: Path, prepare: Callable[..., Any]
) -> None:
    here = DEMO.replace("provider: {name: local}", "provider: {name: also-here}")
    (folder / "demo.yaml").write_text(here.replace("4.0.1", "4.0.99"))
    assert "there is no such release" in prepare()[2]
