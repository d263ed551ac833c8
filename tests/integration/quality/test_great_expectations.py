"""How Great Expectations is kept: offline, quiet, in memory; and pages that a browser shows without a network."""

import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
from tests.support.campaigns import sound_attempt as sound
from tests.support.resolved import only_part

from plimsoll.quality.attempt_checks import check_attempt
from plimsoll.quality.engine import validate
from plimsoll.quality.expectation import CheckedTable, Expected, each_between, each_one_of, in_order

ROOT = Path(__file__).parents[3]
_OF_THIS_CHECKOUT = os.pathsep.join((str(ROOT), str(ROOT / "include")))

# An audit hook can't be removed again, and what is imported can't be imported anew: this runs in a process of its own.
_WATCHED = """
import json, sys
TOUCHED = []
def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        TOUCHED.append(f"{event} {args[1:]}")
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+") and args[0] != "/dev/null":
        TOUCHED.append(f"{event} {args[:2]}")
    if event in ("os.mkdir", "subprocess.Popen", "os.fork"):
        TOUCHED.append(f"{event} {args[:1]}")
sys.dont_write_bytecode = True
sys.addaudithook(watch)
from tests.support.campaigns import sound_attempt as sound
from tests.support.resolved import only_part
from plimsoll.quality.attempt_checks import check_attempt
quality = check_attempt(only_part(sound.definition()), sound.CELL, sound.measured())
print(json.dumps({"reasons": quality.reasons, "touched": TOUCHED}))
"""


def test_it_opens_no_connection_writes_no_file_and_says_nothing(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", _WATCHED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": _OF_THIS_CHECKOUT, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []
    assert json.loads(ended.stdout) == {"reasons": [], "touched": []}


def test_importing_the_package_does_not_import_it() -> None:
    code = (
        "import sys, plimsoll.quality.attempt_checks, plimsoll.quality.campaign_checks, plimsoll.quality.engine;"
        "print(sorted({'great_expectations', 'pandas', 'altair', 'sqlalchemy'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert found.stdout == "[]\n"


def test_checks_and_pages_are_the_same_to_the_byte_whatever_was_checked_before() -> None:
    sound_one, busy = sound.measured(), sound.measured(summary=sound.summary(cpu_cores=1.9))
    first, other, again = (
        check_attempt(only_part(sound.definition()), sound.CELL, one) for one in (sound_one, busy, sound_one)
    )
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
    docs = check_attempt(only_part(sound.definition()), sound.CELL, measured).data_docs
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
    assert page.count('<td class="failed">') + page.count('<td class="warning">') == 1
    assert len(page) < 60_000


def test_data_docs_show_what_strangers_wrote_as_text() -> None:
    hostile = "</td></script><img src=x onerror=alert(1)> $icon {{ 7 * 7 }}"
    table = pd.DataFrame({"host": [hostile, "b"], "said": [hostile, "all"], "low": [1, 2], "high": [3, 1]})
    suite = [
        Expected(f"said {hostile}", *each_one_of("said", "all"), f"all {hostile}"),
        Expected("unsaid", *each_one_of("said", hostile), "it"),
        Expected("low", *each_between("low", 0, 1), "at most 1"),
        Expected("order", *in_order("low", "high"), "in order"),
    ]
    found = validate(
        hostile, [CheckedTable(hostile, table, suite, ("host",)), CheckedTable("Said", table[:1], suite[:1])]
    )
    page = Fetches(found.data_docs["index.html"].decode())
    assert page.found == []
    assert sum("onerror=alert(1)" in text for text in page.text) > len(suite)


def _one_line(text: str) -> str:
    return " ".join(text.split())
