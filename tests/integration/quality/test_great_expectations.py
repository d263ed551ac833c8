"""How Great Expectations is kept: offline, quiet, in memory; and pages that a browser shows without a network."""

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.support.campaigns import sound_attempt as sound

from plimsoll.quality.attempt import check_attempt
from plimsoll.quality.engine import rehearse

ROOT = Path(__file__).parents[3]
_OF_THIS_CHECKOUT = os.pathsep.join((str(ROOT), str(ROOT / "include")))

# An audit hook can't be removed again, and what is imported can't be imported anew: this runs in a process of its own.
_WATCHED = """
import gc, json, sys
TOUCHED, UNUSED = [], ("altair", "jsonschema", "scipy.stats", "sqlalchemy")
def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        TOUCHED.append(f"{event} {args[1:]}")
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+") and args[0] != "/dev/null":
        TOUCHED.append(f"{event} {args[:2]}")
    if event in ("os.mkdir", "subprocess.Popen", "os.fork"):
        TOUCHED.append(f"{event} {args[:1]}")
sys.dont_write_bytecode = True
sys.addaudithook(watch)
from plimsoll.quality.gx_import import load
load()
found = {"collects": gc.isenabled(), "unused": sorted({*UNUSED} & set(sys.modules))}
from tests.support.campaigns import sound_attempt as sound
from plimsoll.quality.attempt import check_attempt
quality = check_attempt(sound.definition(), sound.CELL, sound.measured())
found |= {"reasons": quality.reasons, "touched": list(TOUCHED)}
from great_expectations.expectations.core import expect_column_kl_divergence_to_be_less_than as user
found["unused_yet"] = "scipy.stats" not in sys.modules
found["even"] = user.stats.entropy([0.5, 0.5], base=2)
import altair, scipy.stats, sqlalchemy
found["is_itself"] = user.stats.entropy is scipy.stats.entropy and user.alt.Chart is altair.Chart
found["two"] = sqlalchemy.create_engine("sqlite://").connect().scalar(sqlalchemy.text("select 2"))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process tells that imports Great Expectations, checks an attempt, and then uses what no suite uses."""
    folder = tmp_path_factory.mktemp("watched")
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", _WATCHED],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": _OF_THIS_CHECKOUT, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert list(folder.iterdir()) == []
    found: dict[str, Any] = json.loads(ended.stdout)  # which it says alone
    return found


def test_it_opens_no_connection_writes_no_file_and_says_nothing(watched: dict[str, Any]) -> None:
    assert (watched["reasons"], watched["touched"]) == ([], [])


def test_what_it_imports_for_expectations_of_no_suite_is_imported_when_it_is_used(watched: dict[str, Any]) -> None:
    assert (watched["unused"], watched["unused_yet"]) == ([], True)
    assert (watched["even"], watched["is_itself"]) == (1.0, True)


def test_what_it_does_without_can_be_imported_by_others_afterwards(watched: dict[str, Any]) -> None:
    assert watched["two"] == 2


def test_garbage_is_collected_again_after_the_import(watched: dict[str, Any]) -> None:
    assert watched["collects"]


def test_importing_the_package_does_not_import_it() -> None:
    code = (
        "import sys, plimsoll.quality.attempt, plimsoll.quality.campaign, plimsoll.quality.engine;"
        "print(sorted({'great_expectations', 'pandas', 'altair', 'sqlalchemy'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert found.stdout == "[]\n"


def test_what_is_imported_already_stays_what_it_is() -> None:
    code = (
        "import altair, sqlalchemy, plimsoll.quality.gx_import as it; it.load();"
        "import altair as a, sqlalchemy as s; from great_expectations.compatibility import sqlalchemy as used;"
        "print(a is altair and s is sqlalchemy and used.sqlalchemy is sqlalchemy)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=True)
    assert found.stdout == "True\n"


# By itself, because it leaves out most of what this process has imported. It tells Data Docs, what is made of kinds of
# expectations, the error of one that is left out, and whether others can import it and the clouds' packages afterwards.
_ALONE = """
import json, sys
from plimsoll.quality.gx_import import load
from plimsoll.quality.gx_tables import suites_alone
with suites_alone():
    gx = load()
from tests.support.campaigns import sound_attempt as sound
from plimsoll.quality.attempt import check_attempt
measured = sound.measured(summary=sound.summary(cpu_cores=1.9))
quality = check_attempt(sound.definition(), sound.CELL, measured)
found = {"checks": [repr(check) for check in quality.checks], "page": quality.data_docs["index.html"].decode()}
base = gx.expectations.Expectation
found["kinds"] = [kind for kind in sys.argv[1:] if issubclass(getattr(gx.expectations, kind), base)]
try:
    gx.expectations.ExpectColumnToExist(column="value")
except NotImplementedError as error:
    found["error"] = str(error)
import boto3
from great_expectations.datasource.fluent.postgres_datasource import PostgresDatasource as source
found["source"] = [issubclass(source, gx.datasource.fluent.Datasource), boto3.Session.__name__]
print(json.dumps(found))
"""


def test_with_our_suites_alone_checks_and_pages_are_the_same_to_the_byte_and_others_fail_in_words() -> None:
    sources = (ROOT / "include/plimsoll/quality").glob("*.py")
    kinds = sorted(
        {kind for source in sources for kind in re.findall(r'"(Expect[A-Z]\w+)"', source.read_text("utf-8"))}
    )
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", _ALONE, *kinds],
        env={**os.environ, "PYTHONPATH": _OF_THIS_CHECKOUT},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    measured = sound.measured(summary=sound.summary(cpu_cores=1.9))
    found, whole = json.loads(ended.stdout), check_attempt(sound.definition(), sound.CELL, measured)
    assert found["checks"] == [repr(check) for check in whole.checks]
    assert found["page"] == whole.data_docs["index.html"].decode()
    assert found["kinds"] == kinds
    assert "ExpectColumnToExist is left out of this process" in found["error"]
    assert found["source"] == [True, "Session"]
    assert len(kinds) > 3


def test_checks_and_pages_are_the_same_to_the_byte_whatever_was_checked_before() -> None:
    rehearse()
    sound_one, busy = sound.measured(), sound.measured(summary=sound.summary(cpu_cores=1.9))
    first, other, again = (check_attempt(sound.definition(), sound.CELL, one) for one in (sound_one, busy, sound_one))
    assert first.checks == again.checks
    assert first.data_docs == again.data_docs
    assert other.data_docs != first.data_docs
    assert [check.name for check in other.checks if not check.success] == ["generator's CPU"]


class Fetches(HTMLParser):
    """What a browser would fetch or run, and where it could be led."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: Any, attrs: Any) -> None:
        self.found += [tag] if tag in {"script", "link", "img", "iframe", "object", "form"} else []
        self.found += [f"{name}={value}" for name, value in attrs if name in {"src", "href", "action"}]
        self.found += [f"{name}" for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: Any) -> None:
        self.text.append(data.strip())


def test_data_docs_are_one_page_that_fetches_nothing() -> None:
    measured = sound.measured(summary=sound.summary(cpu_cores=1.9))
    docs = check_attempt(sound.definition(), sound.CELL, measured).data_docs
    assert list(docs) == ["index.html"]
    page = docs["index.html"].decode()
    read = Fetches(page)
    assert read.found == []
    assert "http" not in page
    assert "@import" not in page
    assert "g1-001k-r1: is the measurement sound?" in read.text
    assert "collector: G1" in read.text
    assert any(
        text.startswith("Warning: generator's CPU, expected less than 90%") for text in map(_one_line, read.text)
    )
    assert page.count("fa-times text-danger") == 1
    assert len(page) < 60_000


def _one_line(text: str) -> str:
    return " ".join(text.split())
