import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from tests.support.campaigns.outcomes import campaign_of
from tests.support.campaigns.synthetic import demo_campaign
from tests.unit.report.pages import Elements, page_of

from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.report import build_report
from plimsoll.report.charts.rendering import static_picture
from plimsoll.report.charts.theme import Figure
from plimsoll.report.page import summary_markdown

HOSTILE = '</script><script>stolen()</script><img src=x onerror="stolen()">'


@pytest.fixture(scope="module")
def page(demo_files: Mapping[str, bytes]) -> str:
    return demo_files["report.html"].decode()


def test_the_report_has_every_promised_file(demo_files: Mapping[str, bytes]) -> None:
    charts = ["heat-map", "achieved", "maxima", "latencies", "causes", "stops"]
    charts += [f"{kind}-{variant}" for kind in ("tracks", "timeline") for variant in ("g1", "shenandoah")]
    pictures = {f"charts/{name}.{kind}" for name in charts for kind in ("png", "svg")}
    names = ["cells", "capacity", "actions", "achieved", "maxima", "comparisons", "causes", "pauses", "noise"]
    names += ["steadiness", "causes-by-cell", "explained", "worst-misses", "environment", "invalid", "warnings"]
    names += ["checks"]
    tables = {"cells.parquet", "typical.csv", "operations.csv", *(f"{name}.csv" for name in names)}
    assert set(demo_files) == {"report.html", "report.json", "report.schema.json", "summary.md"} | tables | pictures


def test_equal_data_give_equal_bytes(demo_files: Mapping[str, bytes]) -> None:
    again = build_report(demo_campaign())
    assert {path for path in demo_files if again[path] != demo_files[path]} == set()


def test_pictures_are_whole(demo_files: Mapping[str, bytes]) -> None:
    for path, content in demo_files.items():
        if path.endswith(".svg"):
            assert ElementTree.fromstring(content).tag == "{http://www.w3.org/2000/svg}svg"
        if path.endswith(".png"):
            width, height = struct.unpack(">II", content[16:24])
            assert width > 600 < height * 4


def test_the_page_fetches_nothing(page: str) -> None:
    elements = Elements(page)
    assert [attributes for _, attributes in elements.tags if "src" in attributes] == []
    assert all(str(attributes.get("href", "#")).startswith(("#", "../")) for _, attributes in elements.tags)
    policy = next(a["content"] for tag, a in elements.tags if tag == "meta" and a.get("http-equiv"))
    assert str(policy).startswith("default-src 'none'")


def test_the_page_holds_the_runtime_once_and_stays_light(page: str) -> None:
    assert page.count("window.vegaEmbed =") + page.count("window.vegaEmbed=") == 1
    assert len(page) < 1_500_000


def test_the_answer_comes_first_and_every_section_is_there(page: str) -> None:
    elements = Elements(page)
    sections = [attributes["id"] for tag, attributes in elements.tags if tag == "section"]
    assert sections == [
        "answer", "heat-map", "achieved", "maxima", "percentiles", "why", "pauses", "tracks", "timelines", "noise",
        "environment", "validity",
        "cells", "definition", "reproduce", "methods",
    ]  # fmt: skip
    assert "OpenJDK 11.0.13 G1 carries 200 ops/s" in elements.text
    assert "a single repeat shows nothing about spread" in elements.text


def test_text_of_users_can_neither_end_a_script_nor_become_an_element(
    demo: Findings, demo_figures: Sequence[Figure]
) -> None:
    data = demo.data
    variants = tuple(one.model_copy(update={"title": HOSTILE + one.id}) for one in data.definition.variants)
    definition = data.definition.model_copy(
        update={"title": HOSTILE, "description": HOSTILE, "variants": variants, "tags": (HOSTILE,)}
    )
    spoilt = data.attempts[0].verdict.model_copy(update={"valid": False, "reasons": (HOSTILE,), "warnings": (HOSTILE,)})
    attempts = (replace(data.attempts[0], verdict=spoilt), *data.attempts[1:])
    hostile = page_of(analyse(replace(data, definition=definition, attempts=attempts)))
    plain = Elements(page_of(demo, demo_figures))
    elements = Elements(hostile)
    assert elements.count("script") == plain.count("script")
    assert elements.count("img") == 0
    assert all(not name.startswith("on") for _, attributes in elements.tags for name in attributes)
    assert HOSTILE in elements.text
    assert "stolen()</script>" not in hostile


def test_an_incomplete_campaign_says_so_first(patchy: Findings, patchy_figures: Sequence[Figure]) -> None:
    text = Elements(page_of(patchy, patchy_figures)).text
    warning = "2 cells of 12 without a valid attempt: prime-060k-r2, shenandoah-060k-r3"
    assert warning in text
    assert text.index(warning) < text.index("Bars reach to")
    assert "node2 was down for 40 s: Connection refused" in text
    assert "Not equal among cells that should be" in text


@pytest.mark.parametrize("outcome", ["i", ".", "e"])
def test_a_campaign_without_intervals_still_makes_a_report(outcome: str) -> None:
    findings = analyse(campaign_of({"a": {10_000: outcome}, "b": {10_000: outcome}}, control="a"))
    assert "<h1>A trial</h1>" in page_of(findings)
    assert "| A |" in summary_markdown(findings)


def test_the_summary_is_markdown_that_titles_cannot_break() -> None:
    data = demo_campaign()
    variants = tuple(one.model_copy(update={"title": f"*{one.id}* | <b>\nx"}) for one in data.definition.variants)
    definition = data.definition.model_copy(update={"variants": variants})
    lines = summary_markdown(analyse(replace(data, definition=definition))).splitlines()
    assert lines[0] == "# G1 and Shenandoah on one machine"
    (row,) = [line for line in lines if line.startswith(r"| \*g1\*")]
    assert row.startswith(r"| \*g1\* \| \<b\> x | **200 ops/s** | 1 of 1 repeat met |")


def test_every_chart_is_there_without_scripts_once_and_with_ids_of_its_own(page: str) -> None:
    elements = Elements(page)
    charts = [attributes for tag, attributes in elements.tags if tag == "figure"]
    stills = [attributes for tag, attributes in elements.tags if tag == "svg" and attributes.get("class") == "still"]
    assert len(stills) == len(charts) == 10
    assert all(attributes["aria-hidden"] == "true" for attributes in stills)
    ids = [attributes["id"] for _, attributes in elements.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    assert "#1b2733" not in page[: page.index('id="chart-config"')].replace("&#", "")


def test_a_still_picture_has_the_same_texts_and_every_mark(demo_files: Mapping[str, bytes]) -> None:
    picture = demo_files["charts/timeline-g1.svg"].decode()
    smaller = static_picture(picture, "timeline-g1")
    title, *texts = sorted(re.findall(r">([^<]+)</text>", picture), key=lambda text: "every interval" not in text)
    assert title.endswith("p99.9 of every interval")
    assert sorted(re.findall(r">([^<]+)</text>", smaller)) == sorted(texts)
    circles = r'd="M[\d.]+,0A'
    dots = len(re.findall(r'h0(?=[M"])', smaller)) + len(re.findall(circles, smaller))
    assert dots == len(re.findall(circles, picture)) > 0
    lines = len(re.findall(r"\dl-?[\d.]+,", smaller)) + smaller.count("<line ")
    assert lines == picture.count("<line ")
    assert len(smaller) < len(picture) / 2
