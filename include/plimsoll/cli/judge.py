"""`plimsoll judge`: do the response times that any load generator wrote meet a service level? `plimsoll import`: the
same of runs that others made, as a campaign.
"""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

import typer

from plimsoll.cli.output import JsonOption, print_json, print_text
from plimsoll.domain.keys.host_bounds import LARGEST_BYTES
from plimsoll.domain.keys.log_words import pairs, parse_columns
from plimsoll.domain.keys.service_level import ServiceLevel, meant_percentile
from plimsoll.domain.text.errors import LogError
from plimsoll.domain.text.units import parse_duration
from plimsoll.domain.text.wording import plural


def _duration(value: str | timedelta) -> timedelta:
    try:
        return parse_duration(value)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _some_time(value: timedelta) -> timedelta:
    if value <= timedelta(0):
        raise typer.BadParameter("must be more than no time")
    return value


def _in_per_cent(value: float) -> float:
    if meant := meant_percentile(value):
        raise typer.BadParameter(f"{value:g} is in per cent: nearly all operations take longer. Write {meant}")
    return value


def _kinds(values: list[str]) -> list[str]:
    for value in values:
        name, _, kind = value.rpartition("=")
        if not name or kind not in ("reads", "writes"):
            raise typer.BadParameter(f"{value!r} is not NAME=reads or NAME=writes")
    return values


def _sound_columns(values: list[str]) -> list[str]:
    try:
        if columns := pairs(values):
            parse_columns(columns)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    return values


def _known_format(value: str | None) -> str | None:
    from plimsoll.analysis.logs.formats import FORMATS

    names = [known.name for known in FORMATS]
    if value not in (None, *names):
        raise typer.BadParameter(f"{value!r} is none of {', '.join(names)}")
    return value


def judge(  # noqa: PLR0913  # one for each option
    logs: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="Files that a load generator wrote in one run, plain or gzip.")
    ],
    *,
    warmup: Annotated[
        timedelta,
        typer.Option(
            parser=_duration, metavar="TIME", show_default="0s", help="First part of the logs, which is not judged."
        ),
    ] = timedelta(0),
    interval: Annotated[
        timedelta,
        typer.Option(
            parser=_duration,
            callback=_some_time,
            metavar="TIME",
            show_default="10s",
            help="Length of the intervals, counted from the end of warm-up, that are judged one by one.",
        ),
    ] = timedelta(seconds=10),
    percentile: Annotated[
        float,
        typer.Option(
            min=0.001, max=100, callback=_in_per_cent, help="Percentile of response time, in per cent, from 1 on."
        ),
    ] = 99.9,
    below: Annotated[
        timedelta,
        typer.Option(
            parser=_duration,
            callback=_some_time,
            metavar="TIME",
            show_default="100ms",
            help="The bound. A percentile equal to it misses.",
        ),
    ] = timedelta(milliseconds=100),
    windows: Annotated[
        Literal["aligned", "sliding"],
        typer.Option(help="`aligned`: one interval after the other. `sliding`: an interval begins with every record."),
    ] = "aligned",
    failures: Annotated[
        Literal["counted", "apart"],
        typer.Option(help="`apart`: operations that were not answered are shown, and not judged as slow."),
    ] = "counted",
    unit: Annotated[
        Literal["ms", "us", "ns"] | None,
        typer.Option(
            help="Unit of the values in a log whose writer is not known. By default the unit that its writer writes."
        ),
    ] = None,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            callback=_known_format,
            metavar="NAME",
            help="Format of the files, by its name in docs/reference/judging.md. By default their content shows it.",
        ),
    ] = None,
    operation: Annotated[
        list[str],
        typer.Option(
            callback=_kinds,
            metavar="NAME=reads|writes",
            help="Count operations of that name (a tag, or a file's name) as reads or as writes; can be repeated.",
        ),
    ] = [],  # noqa: B006  # typer copies it
    tags: Annotated[
        list[str],
        typer.Option(metavar="NAME", help="Judge the records with this tag of a log; can be repeated. By default all."),
    ] = [],  # noqa: B006  # the same
    columns: Annotated[
        list[str],
        typer.Option(
            callback=_sound_columns,
            metavar="NAME=COLUMN,…",
            help="What the columns of a log of operations hold, such as time=ts,latency=elapsed_ms,ok=success.",
        ),
    ] = [],  # noqa: B006  # the same
    as_json: JsonOption = False,
) -> None:
    """Judge the output of a load generator: in every interval after warm-up, does the percentile stay below the bound?

    The command reads HdrHistogram interval logs of any tool, and the output of cassandra-stress, scylla-bench,
    tlp-stress, NoSQLBench, YCSB, latte, pgbench, sysbench, JMeter, k6, vegeta, Gatling and others; of any other
    program, a log with a line for each operation (`--columns`). It judges this output as far as it describes intervals,
    and says what it can't judge. Several files are the operations of one run (tlp-stress and Plimsoll write one file
    for each operation): they are judged together, and also shown separately. Of the logs of Plimsoll and tlp-stress,
    give those with `.hdr-intended-` in their names, which have response times.

    Exits with 0 if the service level is met, with 1 if it is missed, and with 2 if the logs can't be read or are not a
    sound measurement.
    """
    from plimsoll.analysis.attempt.judgement import Run, unreadable
    from plimsoll.analysis.attempt.service_level_evaluation import judge_logs
    from plimsoll.cli.judge_answer import EXIT_CODES, document, outcome, show

    apart: Literal["apart"] | None = "apart" if failures == "apart" else None
    level = ServiceLevel(percentile=percentile, interval=interval, below=below, windows=windows, failures=apart)
    try:
        contents = _contents(logs)
    except LogError as error:
        if not as_json:
            raise
        print_json(document(unreadable(error), level))
        raise typer.Exit(2) from None
    try:
        judgement = judge_logs(
            contents,
            Run(warmup=warmup),
            [level],
            unit=unit,
            kinds={name.lower(): kind for name, _, kind in (value.rpartition("=") for value in operation)},
            tags=[name for value in tags for name in value.split(",")],
            columns=pairs(columns),
            forced=file_format,
        )
    except LogError as error:
        judgement = unreadable(error)
    if as_json:
        print_json(document(judgement, level))
    else:
        show(judgement, level)
    raise typer.Exit(EXIT_CODES[outcome(judgement)])


def _contents(names: list[str]) -> Mapping[str, bytes]:
    for name in names:
        if names.count(name) > 1:  # Its operations would count twice
            raise LogError("stands twice among the logs", where=name, mend="give each log once")
    contents: dict[str, bytes] = {}
    for name in names:
        left = LARGEST_BYTES - sum(map(len, contents.values()))
        try:
            with Path(name).open("rb") as file:
                # One byte more than allowed shows that the file is larger, without reading all of it
                contents[name] = file.read(left + 1)
        except OSError as error:
            raise LogError(f"can't be read ({error.strerror})", where=name) from error
        if len(contents[name]) > left:
            what = f"the files hold more than {LARGEST_BYTES >> 20:,} MiB"
            raise LogError(what, where=name, mend="give the files of one run alone")
    return contents


_Description = Annotated[
    Path, typer.Argument(metavar="FILE", help="YAML file that says what to import: see docs/guides/importing.md.")
]


def import_runs(description: _Description, as_json: JsonOption = False) -> None:
    """Import runs that others made, and judge them; `plimsoll report` then reports them like any campaign.

    Files already imported are left as they are. Exits with 0 whatever the verdicts, and with 2 where the import itself
    is refused.
    """
    from plimsoll.adapters.stores.local_files import ImportFolder, read_text
    from plimsoll.analysis import grouped
    from plimsoll.bootstrap import build_toolkit
    from plimsoll.report.formatting import listing
    from plimsoll.services.imports.description import DescribedRun, parse_description
    from plimsoll.services.imports.importing import LocalFile, import_runs
    from plimsoll.settings import Settings

    described = parse_description(read_text(description), str(description))
    folder = ImportFolder(description.parent)

    def find(wanted: DescribedRun) -> tuple[LocalFile, ...]:
        return folder.find(wanted.patterns, required=wanted.required)

    verdicts = import_runs(build_toolkit(Settings()), described, find, (lambda _: None) if as_json else print_text)
    if as_json:
        cells = {verdict.cell.id: verdict.outcome for verdict in verdicts}
        warnings = {verdict.cell.id: list(verdict.warnings) for verdict in verdicts}
        print_json({"campaign_id": described.campaign, "cells": cells, "warnings": warnings})
        return
    cells_of = grouped((warning, verdict.cell.id) for verdict in verdicts for warning in verdict.warnings)
    for warning, ids in cells_of.items():
        print_text(f"Warning: {warning} ({listing(ids, 5)})")
    typer.echo(
        f"campaign {described.campaign}: {plural(len(verdicts), 'cell')}. "
        f"`plimsoll report {described.campaign}` makes its report"
    )
