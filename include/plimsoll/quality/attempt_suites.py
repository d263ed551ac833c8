"""The expectations of an attempt's tables. docs/reference/quality.md describes them."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from plimsoll.analysis.attempt.alignment import MISFIT
from plimsoll.analysis.attempt.hosts import OTHERS_NOTICED, STEAL_NOTICED
from plimsoll.analysis.attempt.unanswered import ERROR_LIMIT
from plimsoll.analysis.campaign.cell_results import PERCENTILES
from plimsoll.domain.attempt.load_summary import CPU_LIMIT
from plimsoll.domain.attempt.result import DISTURBED
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.process import Process, by_prefix
from plimsoll.domain.keys.system import NOT_KNOWN
from plimsoll.domain.keys.variant import JvmConfiguration
from plimsoll.domain.text.units import format_duration, format_size
from plimsoll.domain.text.wording import plural
from plimsoll.quality.attempt_tables import COMPLETE, NONE, NOTHING_MISSED, UNDISTURBED
from plimsoll.quality.expectation import (
    Expected,
    Severity,
    at_least,
    at_most,
    each_between,
    each_one_of,
    in_order,
    rows,
)
from plimsoll.quality.miss_cause import tolerance_of

Suite = Sequence[Expected]

_HEAP_TOLERANCE = 0.05
_MIX_DEVIATIONS = 5.0
LAG_SHARE = 0.1
"""The share of the bound by which the load generator may send 99 % of its operations late while it has room to send."""
_MEMORY_FLOOR = 0.02
_NOTICED: Severity = "warning"


def timeline(part: Part) -> Suite:
    """Return expectations of the judged intervals, one row each."""
    level = part.service_levels[0]
    planned, length = part.timing.judged // level.interval, format_duration(level.interval)
    interval_s = level.interval.total_seconds()
    slack_s, covered_s = MISFIT * interval_s, (1 - 2 * MISFIT) * interval_s
    covered, seconds = f"records for at least {covered_s:g} s of each interval", "{:.4g} s"
    return (
        Expected("intervals", *rows(planned), f"{planned} judged intervals of {length}"),
        Expected("intervals known", *at_most("unknown", 0), "start, length and count of each interval"),
        Expected("operations", *each_between("count", 1, None), "operations in every interval that was no stall"),
        Expected("gaps", *each_between("gap_s", -slack_s, slack_s), "each interval where the last ends", show=seconds),
        Expected("coverage", *each_between("duration_s", covered_s, None), covered, show=seconds),
    )


def percentiles() -> Suite:
    """Return expectations of the response times, one row per interval and operation."""
    known = Expected("percentiles known", *at_most("unknown", 0), "every percentile of what was counted")
    ordered = [
        Expected(f"{low} ≤ {high}", *in_order(low, high), "percentiles in order") for low, high in pairwise(PERCENTILES)
    ]
    return (known, *ordered)


def run(part: Part, cell: Cell) -> Suite:
    """Return expectations of the run as a whole, one row."""
    undisturbed = (NOTHING_MISSED, UNDISTURBED)
    return (
        Expected("load", *each_one_of("ended", COMPLETE), "a run that worked through its whole schedule"),
        Expected("nodes up", *each_one_of("nodes_down", NONE), "all nodes up all the time"),
        Expected(DISTURBED, *each_one_of("disturbed", *undisturbed), ", or ".join(undisturbed)),
        *_rate(part, cell),
        *_generator(part),
    )


def _rate(part: Part, cell: Cell) -> Suite:
    tolerance = tolerance_of(part, cell.load_ops_s * part.timing.judged.total_seconds())
    workload, errors = part.workload, f"less than {ERROR_LIMIT:.1%} of operations"
    by_share, by_options = f"a read share of {workload.read_share:g}", "the shares of operations that were asked for"
    mix = by_share if workload.states_read_share else by_options
    foreign = f"{errors} failed by other than the database's doing"
    failing = (
        Expected("errors", *at_most("error_share", ERROR_LIMIT, strictly=True), f"{errors} failed", _NOTICED, "{:.3%}"),
        Expected("foreign errors", *at_most("foreign_error_share", ERROR_LIMIT, strictly=True), foreign, show="{:.3%}"),
    )
    near = f"achieved within {100 * tolerance:.3g}% of attempted"
    unheld = "nothing but the database to hold the load generator back"
    rate: Suite = (
        Expected("rate", *at_least("achieved_share", 1 - tolerance), near, _NOTICED, "{:.2%} of it"),
        Expected("load generator", *each_one_of("held_back_by", "nobody", "database"), unheld),
    )
    # A closed loop attempts no rate that it could fall short of, and an achieved one is what it is.
    expected = failing if "rate" not in part.knows or part.rate else (*rate, *failing)
    if part.load_generator.command:  # only the command knows which operations it asks for
        return expected
    within = f"{mix}, within {_MIX_DEVIATIONS:g} standard deviations of a random choice"
    return (*expected, Expected("mix", *at_most("mix_deviations", _MIX_DEVIATIONS), within, show="{:.2f}"))


def _generator(part: Part) -> Suite:
    level, in_ms, in_s = part.service_levels[0], "{:.3g} ms", "{:.3g} s"
    lag_ms, hiccup_ms = LAG_SHARE * level.bound_ms, level.stall_ms
    hiccup_s = hiccup_ms / 1000
    cpu = f"less than {CPU_LIMIT:.0%} of its host's processors"
    lag = f"99 % of operations sent at most {lag_ms:g} ms late when there was room"
    hiccups = f"no stall of {hiccup_ms:g} ms, which alone makes an interval miss"
    backlog = f"at most {hiccup_s:g} s of the load without an answer when the judged time begins"
    return (
        Expected("generator's CPU", *at_most("generator_cpu_share", CPU_LIMIT, strictly=True), cpu, _NOTICED, "{:.1%}"),
        Expected("schedule lag", *at_most("schedule_lag_ms", lag_ms), lag, _NOTICED, in_ms),
        Expected("generator's hiccups", *at_most("hiccup_ms", hiccup_ms, strictly=True), hiccups, _NOTICED, in_ms),
        Expected("warm-up's backlog", *each_between("opening_backlog_s", None, hiccup_s), backlog, _NOTICED, in_s),
    )


def nodes(part: Part, cell: Cell, processes: Sequence[Process], asked: int) -> Suite:
    """Return expectations of what really ran, one row per node, including the JVMs of its processes.

    `asked`: how many nodes told that. An action may have brought new ones, of which older attempts have no record.
    """
    variant, spares = part.variant(cell.variant), part.action.spares if part.action else 0
    count = min(max(part.system.nodes, asked), part.system.nodes + spares)
    product, version = part.product_of(variant), part.version_of(variant)
    return (
        Expected("nodes", *rows(count), f"{plural(count, 'node')} asked what they run"),
        *(expected for prefix, process in by_prefix(processes).items() for expected in _process(prefix, process.jvm)),
        Expected("database", *each_one_of("product", product), product),
        Expected("database version", *each_one_of("version", version), version),
    )


def reported_nodes(part: Part, cell: Cell, not_told: Mapping[str, str]) -> Suite:
    """Return expectations of the nodes of an external cluster; what is `not_told`, column → words, can't be tested."""
    version, count = part.version_of(part.variant(cell.variant)), part.system.nodes
    named = [version] if version != NOT_KNOWN else []
    asked = "asked by a command" if part.provider.is_endpoint else "of the data centre, by the database's own tables"
    return (
        Expected("nodes", *rows(count), f"{plural(count, 'node')} {asked}"),
        *(Expected("database version", *each_one_of("version", release), release) for release in named),
        *(Expected(words, *each_one_of(column, NONE), f"{words} of the nodes") for column, words in not_told.items()),
    )


def _process(prefix: str, jvm: JvmConfiguration | None) -> Suite:
    """Return expectations of a process's JVM. `prefix`: of the names of its checks and columns."""
    if jvm is None:
        return (Expected(f"{prefix}JVM", *each_one_of(f"{prefix}jvm", NONE), "a program without a JVM"),)
    heap = each_between(f"{prefix}heap_share", 1 - _HEAP_TOLERANCE, 1 + _HEAP_TOLERANCE)
    near, flags = f"within {_HEAP_TOLERANCE:.0%} of {format_size(jvm.heap)}", each_one_of(f"{prefix}flags", "all")
    return (
        Expected(f"{prefix}collector", *each_one_of(f"{prefix}collector", jvm.collector), jvm.collector),
        Expected(f"{prefix}heap", *heap, near, show="{:.1%} of it"),
        Expected(f"{prefix}JDK", *each_one_of(f"{prefix}jdk", jvm.jdk_version), jvm.jdk_version),
        Expected(f"{prefix}JVM flags", *flags, "every flag of the definition among the JVM's arguments"),
    )


def _their_memory() -> Suite:
    """Return the expectation of machines that somebody else has filled, which is no fault of the measurement."""
    bounds = each_between("their_memory_share", _MEMORY_FLOOR, None)
    words = f"at least {_MEMORY_FLOOR:.0%} of the memory of the database's machines available all the time"
    return (Expected("the database's memory", *bounds, words, _NOTICED, "{:.1%}"),)


def hosts(part: Part) -> Suite:
    """Return expectations of the hosts, one row each."""
    length, share = format_duration(part.service_levels[0].interval), "{:.1%}"
    memory = f"at least {_MEMORY_FLOOR:.0%} of a host's memory available all the time"
    steal = f"at most {STEAL_NOTICED:.0%} of processor time taken by other machines"
    others = f"at most {OTHERS_NOTICED:.0%} of processor time in any {length} taken by programs that are not the cell's"
    return (
        # No share is below 0, so this fails only where nothing was sampled
        Expected("samples", *at_least("memory_share", 0), "figures of the hosts during the judged time", _NOTICED),
        Expected("memory", *each_between("memory_share", _MEMORY_FLOOR, None), memory, show=share),
        *(() if "nodes" in part.knows else _their_memory()),
        Expected("steal", *each_between("steal_share", None, STEAL_NOTICED), steal, _NOTICED, share),
        Expected("other programs", *each_between("others_share", None, OTHERS_NOTICED), others, _NOTICED, share),
    )
