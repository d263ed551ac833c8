"""Gate and report of the published campaign's 275 cells from stored results, compared with the libraries' own part.

    .venv/bin/python -m benchmarks.report [--rounds N] [--repeats N]

The cells are synthetic (tests/support/campaigns/synthetic): 900 intervals of reads, writes and both, some 5,400
pauses, a verdict and a fingerprint each, in a store in a temporary folder. Three programs run in turn, each a process
of its own (with `--repeats 20`, 1,100 cells):

  gate    reads every verdict and fingerprint and checks the campaign as a whole
  report  reads the store, makes every file of the report, its bundle among them, and writes it
  again   makes the report again from its bundle alone, and fails unless every file is the same, byte for byte
  bare    reads the same tables, has vl-convert bundle Vega once and draw the same finished charts, and nothing else

The result is the CPU time of whole processes, with all threads, from start to exit. The aim for the report is less than
30 CPU seconds and 1.5 GB.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from statistics import median

from tests.support.campaigns.synthetic import AZUL_CAPACITIES, GENERATED_AT, Plan, azul_definition, synthetic_campaign

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.bootstrap import build_toolkit
from plimsoll.services.publish.publishing import check_campaign, report_files
from plimsoll.services.publish.reproducing import report_again
from plimsoll.services.publish.results import take_snapshot
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.layout import BUNDLE, report_key
from plimsoll.services.store.listing import campaign_ids
from plimsoll.services.store.tables import write_table
from plimsoll.settings import Settings

_LIMIT_CPU_S = 30.0
_TIMEOUT_S = 3600
_VERSION = "benchmark"
_SPECS = "specifications.json"


def main() -> None:
    """Print each round's CPU seconds, the medians, their ratio, and the sizes of the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="how often each program runs")
    parser.add_argument("--repeats", type=int, default=5, help="of 55 cells each")
    parser.add_argument("--run", nargs=2, metavar=("PROGRAM", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        {"gate": _gate, "report": _report, "again": _again, "bare": _bare}[options.run[0]](Path(options.run[1]))
        return
    with tempfile.TemporaryDirectory(prefix="plimsoll-report-") as folder:
        _prepare(Path(folder), options.repeats)
        _measure(Path(folder), options.rounds)


def _measure(folder: Path, rounds: int) -> None:
    spent: Mapping[str, list[float]] = {"gate": [], "report": [], "again": [], "bare": []}
    for _ in range(rounds):
        for program, seconds in spent.items():
            seconds.append(_cpu_s(program, folder))
        print("  ".join(f"{program} {seconds[-1]:.1f} CPU s" for program, seconds in spent.items()), flush=True)
    gate, report, again, bare = (median(seconds) for seconds in spent.values())
    print(f"median of {rounds}: report {report:.1f} CPU s (aim: under {_LIMIT_CPU_S:g}), bare {bare:.1f}")
    print(f"gate {gate:.1f} CPU s")
    print(f"from its bundle again {again:.1f} CPU s: the same bytes")
    print(f"memory: at most {_mb(1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)} in any of them")
    print(f"ratio of report to bare: {report / bare:.2f}")
    files = [path for path in (folder / "store").glob("*/report/**/*") if path.is_file()]
    sizes = {path.name: _mb(path.stat().st_size) for path in files}
    total = _mb(sum(path.stat().st_size for path in files))
    print(f"report.html {sizes['report.html']}; bundle.zip {sizes['bundle.zip']}; all {len(files)} files {total}")


def _cpu_s(program: str, folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "benchmarks.report", "--run", program, str(folder)]
    subprocess.run(command, check=True, timeout=_TIMEOUT_S)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _prepare(folder: Path, repeats: int) -> None:
    """Store the campaign's results, and the finished charts for the bare program."""
    from plimsoll.analysis.campaign.findings import analyse
    from plimsoll.report.build import figures
    from plimsoll.report.charts.rendering import picture_specification

    data = synthetic_campaign(azul_definition(repeats=repeats), Plan(AZUL_CAPACITIES, pauses_per_s=0.6))
    campaign = _campaign(folder, data)
    campaign.open(data.definition)
    for attempt in data.attempts:
        key = attempt.verdict.key
        layout.VERDICT.write(campaign.store, key, attempt.verdict)
        if attempt.fingerprint is not None:
            layout.FINGERPRINT.write(campaign.store, key, attempt.fingerprint)
        write_table(campaign.store, key, "intervals", attempt.intervals)
        write_table(campaign.store, key, "pauses", attempt.pauses)
        for name, table in (
            ("coincidences", attempt.coincidences),
            ("jvms", attempt.jvms),
            ("hosts", attempt.hosts),
            ("latencies", attempt.latencies),
            ("activity", attempt.activity),
        ):
            write_table(campaign.store, key, name, table)
    _gate(folder)
    specifications = [picture_specification(figure) for figure in figures(analyse(data))]
    (folder / _SPECS).write_text(json.dumps(specifications), encoding="utf-8")


def _campaign(folder: Path, data: CampaignData | None = None) -> CampaignStore:
    store = ObjectStore(str(folder / "store"))
    return CampaignStore(store, data.campaign_id if data else campaign_ids(store)[0])


def _gate(folder: Path) -> None:
    campaign = _campaign(folder)
    check_campaign(replace(build_toolkit(Settings()), store=campaign.store), campaign.campaign_id)


def _report(folder: Path) -> None:
    campaign = _campaign(folder)
    made = report_files(take_snapshot(campaign), campaign.campaign_id, GENERATED_AT, _VERSION)
    for path, content in made.items():
        campaign.store.write(f"{layout.REPORT_FILES.folder(campaign.campaign_id)}/{path}", content)


def _again(folder: Path) -> None:
    campaign = _campaign(folder)
    bundle = report_key(campaign.campaign_id, BUNDLE)
    remade = report_again(BytesIO(campaign.store.read(bundle)), bundle, _VERSION)
    stored = {name: campaign.store.read(report_key(campaign.campaign_id, name)) for name in remade.files}
    if remade.differing or dict(remade.files) != stored:
        raise SystemExit(f"not the same bytes: {remade.differing or 'the bundle'}")


def _bare(folder: Path) -> None:
    import pandas as pd
    import vl_convert

    campaign = _campaign(folder)
    for key in campaign.store.keys(layout.ATTEMPTS.folder(campaign.campaign_id)):
        if key.endswith(".parquet"):
            pd.read_parquet(BytesIO(campaign.store.read(key)))
    vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    for specification in json.loads((folder / _SPECS).read_text(encoding="utf-8")):
        vl_convert.svg_to_png(vl_convert.vegalite_to_svg(specification), scale=2.0)


def _mb(size: int) -> str:
    return f"{size / 1e6:.2f} MB"


if __name__ == "__main__":
    main()
