"""The expectations of several load hosts that share one load."""

from collections.abc import Sequence
from math import nan

import pandas as pd

from plimsoll.analysis.attempt.judgement import RATE_TOLERANCE
from plimsoll.domain.attempt.load_summary import CPU_LIMIT, LoadSummary, most_apart_ms
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.text.wording import plural
from plimsoll.quality.attempt_checks import MeasuredAttempt
from plimsoll.quality.attempt_suites import LAG_SHARE
from plimsoll.quality.attempt_tables import COMPLETE, known
from plimsoll.quality.expectation import Expected, at_least, at_most, each_one_of, rows


def table(measured: MeasuredAttempt) -> pd.DataFrame:
    """Return a table with one row per load host, with its report on its own part. NaN: not known."""
    cpus = {host: facts.cpus for host, facts in measured.fingerprint.load_hosts.items()}
    return pd.DataFrame(
        [_row(host, summary, cpus.get(host)) for host, summary in measured.summaries.items()],
        columns=["host", "ended", "achieved_share", "cpu_share", "lag_ms", "hiccup_ms"],
    )


def _row(host: str, summary: LoadSummary, cpus: int | None) -> dict[str, object]:
    achieved, attempted, cores = summary.achieved_ops_s, summary.attempted_ops_s, summary.cpu_cores
    return {
        "host": host,
        "ended": COMPLETE if summary.complete else summary.reason or "not complete",
        "achieved_share": nan if achieved is None or not attempted else achieved / attempted,
        "cpu_share": nan if cores is None or not cpus else cores / cpus,
        "lag_ms": known(summary.schedule_lag_p99_ms),
        "hiccup_ms": known(summary.hiccup_max_ms),
    }


def suite(part: Part) -> Sequence[Expected]:
    """Return expectations of the load hosts, one row each."""
    level, hosts = part.service_levels[0], part.load_generator.hosts
    lag_ms, hiccup_ms = LAG_SHARE * level.bound_ms, level.stall_ms
    share, milliseconds = "{:.1%}", "{:.3g} ms"
    near = f"each achieved within {RATE_TOLERANCE:.0%} of its part of the rate"
    rate = Expected(
        "each host's rate", *at_least("achieved_share", 1 - RATE_TOLERANCE), near, "warning", "{:.2%} of it"
    )
    cpu = f"less than {CPU_LIMIT:.0%} of its processors taken by the generator"
    lag = f"99 % of each one's operations sent at most {lag_ms:g} ms late when there was room"
    hiccups, stall = at_most("hiccup_ms", hiccup_ms, strictly=True), f"no stall of {hiccup_ms:g} ms"
    return (
        Expected("load hosts", *rows(hosts), f"accounts of {plural(hosts, 'load host')}"),
        Expected("each host's load", *each_one_of("ended", COMPLETE), "each worked through its part of the schedule"),
        *((rate,) if "rate" in part.knows else ()),
        Expected("each host's CPU", *at_most("cpu_share", CPU_LIMIT, strictly=True), cpu, "warning", share),
        Expected("each host's schedule lag", *at_most("lag_ms", lag_ms), lag, "warning", milliseconds),
        Expected("each host's hiccups", *hiccups, stall, "warning", milliseconds),
    )


def start_table(measured: MeasuredAttempt) -> pd.DataFrame:
    """Return a table with one row on the common start, ms.

    Columns: how far apart the hosts report their starts, by the first host's clock; the uncertainty of their clocks
    then; and how far the clocks moved while the load ran.
    """
    start, starts = measured.load_start, [summary.started_at for summary in measured.summaries.values()]
    told = [started_at for started_at in starts if started_at is not None]
    is_known = bool(told) and len(told) == len(starts)
    row = {
        "apart_ms": (max(told) - min(told)).total_seconds() * 1000 if is_known else nan,
        "error_ms": start.error_ms if start else nan,
        "drift_ms": known(start.drift_ms if start else None),
    }
    return pd.DataFrame([row])


def start_suite(part: Part) -> Sequence[Expected]:
    """Return expectations of the clocks of all load hosts, one row."""
    most_ms = most_apart_ms(level.interval for level in part.service_levels)
    milliseconds, apart = "{:.3g} ms", f"load hosts that start at most {most_ms:g} ms apart"
    moved = f"clocks of load hosts that move at most {most_ms:g} ms against each other during the load"
    return (
        Expected("common start", *at_most("apart_ms", 0.0), "load hosts that got the same start", show=milliseconds),
        Expected("clocks at the start", *at_most("error_ms", most_ms), apart, show=milliseconds),
        Expected("clocks kept together", *at_most("drift_ms", most_ms), moved, "warning", milliseconds),
    )
