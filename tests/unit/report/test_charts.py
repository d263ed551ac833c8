import csv
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from typing import Any

import altair as alt
import pandas as pd
import pytest
from tests.support.campaigns.outcomes import attempt_of, campaign_of, with_failed_operations

from plimsoll.analysis.campaign.cell_results import AttemptData
from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.report import build_report
from plimsoll.report.build import figures
from plimsoll.report.charts.heat_map import heat_map
from plimsoll.report.charts.rendering import drawing, picture_specification, smaller_png
from plimsoll.report.charts.strips import strip_charts
from plimsoll.report.charts.theme import MET, MISSED, PALETTE, PAUSE, SHADE, Figure, log_axis
from plimsoll.report.charts.timeline import timelines
from plimsoll.report.words.answers import rung_outcome


@pytest.fixture(scope="module")
def drawn(patchy_figures: Sequence[Figure]) -> Mapping[str, Figure]:
    return {figure.name: figure for figure in patchy_figures}


def rows_of(figure: Figure) -> list[dict[str, Any]]:
    data = figure.spec["data"]
    return list(csv.DictReader(StringIO(data["values"]))) if "format" in data else data["values"]


def test_there_is_a_timeline_for_each_variant(drawn: Mapping[str, Figure]) -> None:
    assert list(drawn) == [
        "heat-map",
        "achieved",
        "maxima",
        "latencies",
        "causes",
        "stops",
        "tracks-prime",
        "tracks-shenandoah",
        "timeline-prime",
        "timeline-shenandoah",
        "order",
    ]


def test_every_axis_names_its_unit(drawn: Mapping[str, Figure]) -> None:
    for figure in drawn.values():
        titles = _titles(figure.spec)
        assert titles, figure.name
        assert all("(" in title or title == "" for title in titles), (figure.name, titles)


def test_heat_map_squares_say_the_worst_interval_and_the_repeats_in_words(drawn: Mapping[str, Figure]) -> None:
    squares = {(row["variant"], row["load"]): row for row in rows_of(drawn["heat-map"])}
    open_one = squares["Azul Prime 11.0.13 (C4)", "60k"]
    assert open_one["repeats"] == "2/3 met, 1 invalid"
    assert not open_one["whole"]
    missed = squares["OpenJDK 11.0.13 Shenandoah", "60k"]
    assert missed["worst"].endswith(" ms")
    assert missed["ratio"] > 1


def test_the_load_line_lies_on_each_variant_s_capacity(drawn: Mapping[str, Figure]) -> None:
    lines = [(row["variant"], row["load"]) for row in rows_of(drawn["heat-map"]) if row["capacity"]]
    assert lines == [("Azul Prime 11.0.13 (C4)", "20k"), ("OpenJDK 11.0.13 Shenandoah", "20k")]


def test_squares_missed_by_errors_do_not_hide_behind_their_response_times() -> None:
    (square,) = rows_of(heat_map(analyse(campaign_of({"a": {10_000: "me"}}))))
    assert square["kept_but_missed"]
    assert square["repeats"] == "1/2 met, 1 by errors"


def test_squares_missed_by_a_stop_rule_do_not_hide_behind_their_response_times() -> None:
    campaign = campaign_of({"a": {10_000: "m"}})
    [one] = campaign.attempts
    ended = replace(one, verdict=one.verdict.model_copy(update={"met": False, "stopped": "the load was ended"}))
    findings = analyse(replace(campaign, attempts=(ended,)))
    (square,) = rows_of(heat_map(findings))
    assert square["kept_but_missed"]
    assert square["repeats"] == "0/1 met, 1 by a stop rule"
    assert rung_outcome(findings.rungs["a"][0]) == "1 of 1 repeat missed (1 by a stop rule)"


def test_a_square_says_where_its_worst_interval_is_the_least_that_it_can_be() -> None:
    met, missed = rows_of(heat_map(analyse(with_failed_operations(campaign_of({"a": {1_000: "mm", 2_000: "mx"}})))))
    assert (met["worst"], met["range"]) == ("50 ms", "0.5× to 0.5×")
    assert (missed["worst"], missed["range"]) == ("≥ 250 ms", "0.5× to ≥ 2.5×")


def test_a_worst_interval_of_0_ms_is_a_result_and_has_a_colour() -> None:
    campaign = campaign_of({"a": {10_000: "m"}})
    [one] = campaign.attempts
    fast = attempt_of(campaign.definition, one.verdict.cell, 1, "m", worst_ms=0.0)
    (square,) = rows_of(heat_map(analyse(replace(campaign, attempts=(fast,)))))
    assert (square["worst"], square["ratio"] > 0) == ("0 ms", True)


def test_the_colours_of_squares_reach_to_the_worst_interval() -> None:
    chart = heat_map(analyse(campaign_of({"a": {10_000: "mm", 20_000: "xx"}})))
    assert '"domain": [0.0625, 1, 16]' in json.dumps(chart.spec)
    campaign = campaign_of({"a": {10_000: "mm", 20_000: "xx"}})
    attempts = [
        attempt_of(campaign.definition, one.verdict.cell, 1, "x", worst_ms=11_616.0) for one in campaign.attempts
    ]
    far = heat_map(analyse(replace(campaign, attempts=tuple(attempts))))
    assert '"domain": [0.0625, 1, 256]' in json.dumps(far.spec)


def test_a_cell_without_intervals_has_no_empty_panel_and_is_counted(drawn: Mapping[str, Figure]) -> None:
    figure = drawn["timeline-shenandoah"]
    assert {row["panel"] for row in rows_of(figure)} == {str(place) for place in range(5)}
    assert figure.panels is not None
    assert (figure.panels.count, figure.panels.in_row) == (5, 3)
    assert "NOT RUN" not in json.dumps(figure.spec)
    assert figure.caption.endswith(" 1 cell without intervals has no panel.")


@pytest.mark.usefixtures("without_drawings")
def test_a_single_load_is_shown_in_tables_and_not_in_charts_of_one_point() -> None:
    files = build_report(campaign_of({"a": {10_000: "xx"}, "b": {10_000: "xx"}}))
    page = files["report.html"].decode()
    for name in ("achieved", "maxima", "stops", "timeline-a"):
        assert f'id="chart-{name}"' not in page
        assert f"charts/{name}.svg" not in files
    assert "<details open><summary>As a table" in page
    assert "Every interval of every cell" not in page
    assert "passes of 2 show" not in page
    assert "passes bound the pass probability" not in files["summary.md"].decode()


def test_missed_intervals_and_their_pauses_reach_the_timeline(drawn: Mapping[str, Figure], patchy: Findings) -> None:
    rows = rows_of(drawn["timeline-shenandoah"])
    counted = [result.verdict for result in patchy.of_variant("shenandoah") if result.verdict]
    assert sum(int(row["missed"]) for row in rows) == sum(verdict.levels[0].missed for verdict in counted)
    assert max(float(row["ms"]) for row in rows if row["mark"] == "p") > 100


def test_the_cell_that_decided_is_shown_on_one_axis_that_can_be_zoomed(drawn: Mapping[str, Figure]) -> None:
    figure = drawn["tracks-shenandoah"]
    assert figure.title.startswith("OpenJDK 11.0.13 Shenandoah at 60,000 ops/s, repeat ")
    assert figure.title.endswith(": missed")
    assert {row["track"] for row in rows_of(figure)} == {"ms", "rate", "cpu", "heap", "stopped"}
    (zoom,) = figure.spec["params"]
    assert (zoom["bind"], zoom["select"]["encodings"]) == ("scales", ["x"])
    assert figure.spec["resolve"]["scale"]["x"] == "shared"
    picture = picture_specification(figure)
    assert "params" not in picture
    assert len(picture["vconcat"]) == 5
    assert not [layer for strip in picture["vconcat"] for layer in strip["layer"] if layer["mark"].get("opacity") == 0]


def test_a_variant_that_carried_every_load_is_shown_at_the_highest(drawn: Mapping[str, Figure]) -> None:
    assert "at 60,000 ops/s" in drawn["tracks-prime"].title


def test_attempts_of_earlier_versions_have_fewer_strips_and_no_curve(demo: Findings) -> None:
    nothing = pd.DataFrame()
    attempts = tuple(replace(one, latencies=nothing, activity=nothing) for one in demo.data.attempts)
    older = {figure.name: figure for figure in figures(analyse(replace(demo.data, attempts=attempts)))}
    assert "latencies" not in older
    assert {row["track"] for row in rows_of(older["tracks-g1"])} == {"ms", "rate"}


def test_what_waited_has_strips_of_its_own_up_to_the_last_whole_interval(demo: Findings) -> None:
    starts = [0.0, 10.0, 20.0, 10_000.0]  # the last is of answers that came after the run's end
    backlog = pd.DataFrame({"start_s": starts, "in_flight": [9, 100, 3, 1], "unsent": 0, "behind_s": [0.0, 3.5, 0, 0]})
    attempts = tuple(replace(one, backlog=backlog) for one in demo.data.attempts)
    drawn = {figure.name: figure for figure in strip_charts(analyse(replace(demo.data, attempts=attempts)))}
    values = {
        track: [float(row["v"]) for row in rows_of(drawn["tracks-g1"]) if row["track"] == track]
        for track in ("backlog", "in_flight")
    }
    assert values == {"backlog": [0.0, 3.5, 0.0], "in_flight": [9.0, 100.0, 3.0]}


def test_a_short_first_interval_is_drawn_at_its_own_middle_in_every_strip(demo: Findings) -> None:
    def shortened(attempt: AttemptData) -> AttemptData:
        starts = {"start_s": attempt.intervals["start_s"].where(attempt.intervals["start_s"] > 0, 5.0)}
        lengths = {"duration_s": attempt.intervals["duration_s"].where(attempt.intervals["start_s"] > 0, 5.0)}
        first = {"start_s": [5.0, 10.0], "in_flight": 9, "unsent": 1, "behind_s": 2.0}
        busy = {
            "start_s": [5.0, 10.0],
            "host": "node1",
            "process": "",
            "cpu_busy": 0.5,
            "heap_bytes": 2.0**20,
            "stopped_ms": 3.0,
        }
        intervals = attempt.intervals.assign(**starts, **lengths)
        return replace(attempt, intervals=intervals, backlog=pd.DataFrame(first), activity=pd.DataFrame(busy))

    attempts = tuple(map(shortened, demo.data.attempts))
    (figure, *_) = strip_charts(analyse(replace(demo.data, attempts=attempts)))
    first = {row["track"]: float(row["t"]) for row in reversed(rows_of(figure))}
    assert {first[name] for name in ("rate", "backlog", "in_flight", "cpu", "heap", "stopped")} == {7.5}


def test_curves_are_of_reads_and_writes_apart_and_end_with_the_maximum(
    demo: Findings, demo_figures: Sequence[Figure]
) -> None:
    (figure,) = [figure for figure in demo_figures if figure.name == "latencies"]
    rows = rows_of(figure)
    labels = list(demo.labels.values())
    assert {row["panel"] for row in rows} == {f"{label}: {kind}" for label in labels for kind in ("reads", "writes")}
    own = [row for row in rows if row["panel"] == f"{labels[0]}: reads" and row["load"] == "200 ops/s"]
    assert [float(row["x"]) for row in own] == sorted(float(row["x"]) for row in own)
    assert (own[0]["name"], own[-1]["name"]) == ("p0", "maximum")


def test_a_run_that_lasted_longer_than_asked_lies_within_its_panel(demo: Findings) -> None:
    attempts = [
        replace(one, intervals=one.intervals.assign(start_s=one.intervals["start_s"] + 5)) for one in demo.data.attempts
    ]
    figure = timelines(analyse(replace(demo.data, attempts=tuple(attempts))))[0]
    domains = [domain for domain in _domains(figure.spec) if domain[0] == 0]
    assert domains
    assert all(domain == [0, 95.0] for domain in domains)


def with_intervals(demo: Findings, **changes: Any) -> list[dict[str, Any]]:
    """Return the rows of a timeline in whose first cell the last interval has these values."""
    first, *others = demo.data.attempts
    table = first.intervals.sort_values("start_s", kind="stable").reset_index(drop=True)
    last = table.index[table["start_s"] == table["start_s"].max()]
    for name, value in changes.items():
        table.loc[last, name] = value
    attempts = (replace(first, intervals=table), *others)
    place = list(demo.labels).index(first.verdict.cell.variant)
    rows = rows_of(timelines(analyse(replace(demo.data, attempts=attempts)))[place])
    return [row for row in rows if row["panel"] == "0" and row["mark"] not in "np"]


def test_a_last_interval_that_was_cut_off_is_not_drawn_like_a_judged_one(demo: Findings) -> None:
    *others, last = with_intervals(demo, phase="partial", met=None, judged_ms=3_000.0)
    assert (last["mark"], last["ms"], last["missed"]) == ("u", "3000", "0")
    assert {row["mark"] for row in others} == {"i"}


def test_an_interval_in_which_nothing_was_answered_is_seen(demo: Findings) -> None:
    last = with_intervals(demo, met=False, judged_ms=None)[-1]
    assert (last["mark"], last["ms"], last["missed"]) == ("s", "", "1")


def test_no_colour_of_a_variant_means_anything_else() -> None:
    assert len(set(PALETTE)) == len(PALETTE)
    assert not {MISSED, MET, PAUSE, SHADE} & set(PALETTE)


def test_the_bound_has_the_ink_of_text(drawn: Mapping[str, Figure]) -> None:
    for name in ("maxima", "timeline-prime"):
        spec = picture_specification(drawn[name])
        rules = [layer["mark"] for layer in spec["spec"]["layer"] if layer["mark"]["type"] == "rule"]
        assert {"type": "rule", "style": "bound"} in rules
        assert spec["config"]["style"]["bound"]["color"] == spec["config"]["axis"]["labelColor"]


def test_below_a_gap_in_the_last_row_stands_no_axis(drawn: Mapping[str, Figure]) -> None:
    """Five panels of maxima in rows of two; six timelines in rows of three."""
    assert picture_specification(drawn["maxima"])["resolve"]["axis"]["x"] == "independent"
    assert "axis" not in picture_specification(drawn["timeline-prime"]).get("resolve", {})


def test_the_specifications_of_equal_findings_are_equal(drawn: Mapping[str, Figure], patchy: Findings) -> None:
    again = {figure.name: figure.spec for figure in figures(patchy)}
    assert json.dumps(again) == json.dumps({name: figure.spec for name, figure in drawn.items()})


@pytest.mark.parametrize(
    ("lowest", "highest", "domain", "ticks"),
    [
        (1.3, 40.0, [1, 50], [1, 2, 5, 10, 20, 50]),
        (0.3, 3000.0, [0.2, 5000], [1, 10, 100, 1000]),
        (100.0, 100.0, [100, 200], [100, 200]),
    ],
)
def test_log_axes_end_on_round_figures(lowest: float, highest: float, domain: list[float], ticks: list[float]) -> None:
    found = log_axis(lowest, highest)
    assert found[0] == pytest.approx(domain)
    assert found[1] == pytest.approx(ticks)


def test_a_smaller_png_holds_the_same_pixels() -> None:
    png = _png(b"\x00\x01\x02\x03" * 400)
    smaller = smaller_png(png)
    assert len(smaller) < len(png)
    assert smaller.startswith(png[:33])
    assert smaller.endswith(png[-12:])
    assert zlib.decompress(smaller[41:-16]) == b"\x00\x01\x02\x03" * 400


def _png(pixels: bytes) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return len(body).to_bytes(4) + kind + body + zlib.crc32(kind + body).to_bytes(4)

    stored = zlib.compress(pixels, 0)
    parts = [(b"IHDR", bytes(13)), (b"IDAT", stored[:100]), (b"IDAT", stored[100:]), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, body) for kind, body in parts)


def _domains(spec: object) -> list[list[float]]:
    """Return domains of x channels, wherever they stand."""
    if isinstance(spec, dict):
        scale = spec["x"].get("scale", {}) if isinstance(spec.get("x"), dict) else {}
        own = [scale["domain"]] if "domain" in scale else []
        return own + [domain for value in spec.values() for domain in _domains(value)]
    return [domain for value in spec for domain in _domains(value)] if isinstance(spec, list) else []


def _titles(spec: object) -> list[str]:
    """Return titles of x and y channels, wherever they stand."""
    if isinstance(spec, dict):
        own = [spec[channel].get("title") for channel in ("x", "y") if isinstance(spec.get(channel), dict)]
        return [title for title in own if title] + [title for value in spec.values() for title in _titles(value)]
    return [title for value in spec for title in _titles(value)] if isinstance(spec, list) else []


def test_every_chart_is_sound_vega_lite(drawn: Mapping[str, Figure]) -> None:
    for figure in drawn.values():
        alt.Chart.from_dict(dict(figure.spec), validate=True)


def test_a_control_character_in_a_label_is_drawn_as_its_escape() -> None:
    """No XML file may have it, and the renderer would end the process."""
    encoding = {"x": {"field": "op", "type": "nominal", "scale": {"domain": ["log\x1bin"]}, "title": "a\ufffeb"}}
    spec = {"data": {"values": [{"op": "log\x1bin"}]}, "mark": "point", "encoding": encoding}
    svg = drawing(Figure("one", "before\after", "", spec))
    assert all(text in svg for text in (">before\\x07fter<", ">log\\x1bin<", ">a\\ufffeb<"))
