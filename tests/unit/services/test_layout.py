"""The places of files in the store: as the page on the architecture lists them."""

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

from plimsoll import services
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.services.housekeeping import known
from plimsoll.services.store import layout
from plimsoll.services.store.layout import Place, Subject
from plimsoll.services.store.tables import TABLES, table_file

PAGE = Path(__file__).parents[3] / "docs/contributing/architecture.md"
KEY = AttemptKey(campaign_id="demo-1", cell_id="g1-040k-r3", attempt=2)
ATTEMPT, KEPT = "cells/<>/<>/", "clusters/<>/<>/"


def nameless(path: str) -> str:
    return re.sub(r"<[\w]+>", "<>", path)


def listed() -> Iterator[str]:
    """Yield each path of the page's listing, below the campaign's folder or the root."""
    listing = PAGE.read_text(encoding="utf-8").split("The store of a campaign, format 1")[1].split("```")[1]
    folder = ""
    for line in listing.strip().splitlines():
        entry, indent = re.split(r"  +|(?<=…) ", line.strip())[0], len(line) - len(line.lstrip())
        if indent > 25:
            continue  # a description goes on
        folder = folder if indent == 25 else entry if entry.endswith(">/") else ""
        for one in re.split(r",\s*", entry.rstrip(",")):
            path = one.removeprefix("<root>/").removeprefix("<campaign_id>/")
            yield nameless(path if path == folder else folder + path)


def declared() -> set[str]:
    for module in walk_packages(services.__path__, f"{services.__name__}."):
        import_module(module.name)
    modules = [module for name, module in sys.modules.items() if name.startswith(services.__name__)]
    found = {one.path for module in modules for one in vars(module).values() if isinstance(one, Place)}
    return {nameless(path) for path in found}


def is_in(path: str, entry: str) -> bool:
    if entry[-1] in "/…" and f"{path}/".startswith(entry.rstrip("…")):
        return True
    return re.fullmatch(re.escape(path).replace("<>", "[^/]+"), entry) is not None


def test_the_page_lists_every_place_of_a_file() -> None:
    entries = tuple(listed())
    for path in declared():
        assert any(is_in(f"{folder}{path}", entry) for folder in ("", ATTEMPT, KEPT) for entry in entries), path


def test_every_file_that_the_page_lists_has_its_place() -> None:
    places = {f"{folder}{path}" for path in declared() for folder in ("", ATTEMPT, KEPT)}
    places |= {f"{ATTEMPT}{table_file(name)}" for name in TABLES}
    for entry in listed():
        assert f"/{layout.RAW}/" in entry or any(is_in(path, entry) for path in places), entry


def test_a_check_of_the_store_knows_every_place() -> None:
    places = (*known.OF_STORE, *known.OF_CAMPAIGN, *known.OF_KEPT, *known.OF_ATTEMPT)
    folders = {nameless(place.path) for place in (layout.ATTEMPTS, layout.KEPT_CLUSTERS)}
    assert declared() - folders <= {nameless(place.path) for place in places}


@pytest.mark.parametrize(
    ("place", "of", "names", "key", "folder"),
    [
        (layout.STAGE_START, "demo-1", ["ramp"], "demo-1/stages/ramp.json", "demo-1/stages"),
        (layout.VERDICT, KEY, [], "demo-1/cells/g1-040k-r3/2/verdict.json", None),
        (layout.EARLIER_VERDICT, KEY, [1], "demo-1/cells/g1-040k-r3/2/verdicts/1.json",
         "demo-1/cells/g1-040k-r3/2/verdicts"),
        (layout.CLUSTER, ClusterId.of_attempt(KEY), [], "demo-1/cells/g1-040k-r3/2/cluster.json", None),
        (layout.CLUSTER, ClusterId.kept("demo-1", "g1", 3), [], "demo-1/clusters/g1-hosts/3/cluster.json", None),
        (layout.AT_REST, "", ["demo-1", "a" * 32, "0" * 32], f".at-rest/demo-1/{'a' * 32}-{'0' * 32}.json", ".at-rest"),
        (layout.LOOK, "", ["demo-1", "a" * 32], f".at-rest/demo-1/{'a' * 32}.look", ".at-rest"),
        (layout.FULL_ZONE, "", ["eu-west-1a"], ".full-zones/eu-west-1a", ".full-zones"),
        (layout.COST, "demo-1", ["g1", 1, "0.5"], "demo-1/costs/g1/1/0.5.json", "demo-1/costs"),
    ],
)  # fmt: skip
def test_keys_are_made_of_the_subject_and_names(
    place: Place, of: Subject, names: list[object], key: str, folder: str | None
) -> None:
    assert place.key(of, *names) == key
    if folder is not None:
        assert place.folder(of) == folder


def test_a_folder_may_have_the_first_names() -> None:
    assert layout.ATTEMPTS.folder("demo-1", "g1-040k-r3") == "demo-1/cells/g1-040k-r3"
    assert layout.COST.folder("demo-1", "g1-040k-r3", 2) == "demo-1/costs/g1-040k-r3/2"
