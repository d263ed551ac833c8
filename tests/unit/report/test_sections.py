"""The list of sections: an entry in it is all that page, navigation and files need."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files

import pytest
from tests.unit.report.pages import page_of

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.domain.keys.definition_keys import Published, PublishedRow
from plimsoll.report import page
from plimsoll.report.charts.theme import Figure
from plimsoll.report.sections import Section
from plimsoll.report.sections.registry import SECTIONS

FOLDER = files("plimsoll.report.sections")
OF_FOUR_CELLS = Section("reproduce", "A new one", is_shown=lambda findings, _charts: len(findings.cells) == 4)


def test_every_template_belongs_to_a_section() -> None:
    templates = {place.name for place in FOLDER.iterdir() if place.name.endswith(".j2")}
    assert templates == {section.template for section in SECTIONS}


def test_every_module_is_a_sections() -> None:
    modules = {place.name.removesuffix(".py") for place in FOLDER.iterdir() if place.name.endswith(".py")}
    assert modules - {"__init__", "registry"} < {section.name for section in SECTIONS}


def test_no_two_sections_share_an_anchor_or_a_file() -> None:
    anchors = [section.name for section in SECTIONS]
    tables = [table for section in SECTIONS for table in section.sheets]
    assert max(Counter(anchors).values()) == max(Counter(tables).values()) == 1


def test_the_navigation_leads_to_every_section(demo_files: Mapping[str, bytes]) -> None:
    shown = demo_files["report.html"].decode()
    links = re.findall(r'<a href="#([\w-]+)">', shown.partition("<nav")[2].partition("</nav>")[0])
    assert links == re.findall(r'<section id="([\w-]+)">', shown)


def test_every_table_of_a_section_is_a_file(demo_files: Mapping[str, bytes]) -> None:
    assert {f"{table}.csv" for section in SECTIONS for table in section.sheets} <= set(demo_files)


@pytest.mark.parametrize(("campaign", "anchors"), [("demo", ["reproduce"]), ("patchy", [])])
def test_an_entry_decides_which_campaigns_have_the_section(
    campaign: str, anchors: list[str], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings: Findings = request.getfixturevalue(campaign)
    monkeypatch.setattr(page, "sections_of", lambda _: (OF_FOUR_CELLS,))
    shown = page.page_html(findings, ())
    assert re.findall(r'<section id="([\w-]+)">', shown) == anchors
    assert shown.count("A new one</a>") == len(anchors)


def test_a_campaign_that_stands_for_a_publication_shows_what_is_otherwise(
    demo: Findings, demo_figures: Sequence[Figure]
) -> None:
    row = PublishedRow(what="driver", published="<driver 3>", here="driver 4")
    published = Published(publication="Somebody (2020)", rows=(row, PublishedRow(what="nodes", published="3")))
    definition = demo.data.definition.model_copy(update={"published": published})
    shown = page_of(replace(demo, data=replace(demo.data, definition=definition)), demo_figures)
    assert "The campaign stands for Somebody (2020)." in shown
    assert '<th scope="row">driver</th><td class="prose">&lt;driver 3&gt;</td><td class="prose">driver 4</td>' in shown
    assert '<th scope="row">nodes</th><td class="prose">3</td><td class="prose">as published</td>' in shown
    assert "The campaign stands for" not in page_of(demo, demo_figures)
