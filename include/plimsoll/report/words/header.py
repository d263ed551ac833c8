"""The facts at the top of the report, and from when its response times count, which depends on the load's program."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.hosts.fingerprint import Fingerprint
from plimsoll.domain.keys.parameters import values_line
from plimsoll.domain.keys.system import NOT_KNOWN
from plimsoll.report.formatting import duration, figure, listing, moment, plural
from plimsoll.report.words.environment_facts import Origin, origins

_UNKNOWN = "not recorded"
_GIB = 2**30


def header_facts(findings: Findings) -> dict[str, str]:
    """Return name → text, in the header's order. A fact that differs between hosts or cells gives each value."""
    timing = findings.part.timing
    a_cell = f"{duration(timing.duration)}, of which {duration(timing.warmup)} of warm-up"
    approved = {"Approved": "; ".join(map(str, findings.data.approvals))} if findings.data.approvals else {}
    parameters = {"Parameters": values_line(findings.part.parameters)} if findings.part.parameters else {}
    run = {"Measured": _measured(findings), "A cell": a_cell, **parameters, **approved}
    if brought_in := origins(findings):
        return run | _stated(findings, brought_in)
    part, shown = findings.part, (result.shown for result in findings.cells)
    fingerprints = [attempt.fingerprint for attempt in shown if attempt and attempt.fingerprint]
    hosts, external = plural(part.system.nodes, "node"), "nodes" not in part.knows
    if part.load_generator.hosts > 1:
        hosts = f"{hosts} and {plural(part.load_generator.hosts, 'load host')}"
    return {
        **run,
        "Cluster": f"{hosts} {'that somebody else runs' if external else f'a cell, from {part.provider.name}'}",
        **(_reported(part, fingerprints) if external else _read_back(part, fingerprints)),
        "Load generator": _values(fingerprints, lambda fingerprint: [fingerprint.load_generator]),
    }


def _stated(findings: Findings, brought_in: Sequence[Origin]) -> dict[str, str]:
    """Return what the person who imported the cells stated of their source, cluster, database and environment.

    A default of the definition states nothing.
    """
    part, unstated = findings.part, {fact for origin in brought_in for fact in origin.unknown}
    default = "" if "definition: system.database" in unstated else part.system.database
    databases = [f"{variant.product or default or 'release'} {part.version_of(variant)}" for variant in part.variants]
    nodes = "" if "definition: system.nodes" in unstated else plural(part.system.nodes, "node")
    stated: dict[str, list[str]] = {"Source": [origin.source for origin in brought_in], "Cluster": [nodes]}
    stated |= {"Database": databases, "Kernel": [], "Load generator": []}
    for origin in brought_in:
        for fact, values in origin.told.items():
            stated.setdefault(fact[:1].upper() + fact[1:], []).extend(values)
    distinct = {fact: list(dict.fromkeys(filter(None, values))) for fact, values in stated.items()}
    return {
        fact: f"{listing(values, most=6)} (stated by who imported it)" if values else "not stated"
        for fact, values in distinct.items()
    }


def _read_back(part: Part, fingerprints: Sequence[Fingerprint]) -> dict[str, str]:
    return {
        **_hardware(fingerprints),
        "Database": _values(
            fingerprints, lambda fingerprint: (f"{node.database} {node.database_version}" for node in fingerprint.nodes)
        ),
        **({"JVM": _values(fingerprints, _jvms)} if any(variant.jvm for variant in part.variants) else {}),
    }


def _hardware(fingerprints: Sequence[Fingerprint]) -> dict[str, str]:
    return {
        "Hardware of a node": _values(
            fingerprints,
            lambda fingerprint: (
                f"{plural(facts.cpus, 'CPU')} ({facts.cpu_model}), {figure(facts.memory_bytes / _GIB)} GiB"
                for facts in (node.facts for node in fingerprint.nodes)
            ),
        ),
        "Kernel": _values(fingerprints, lambda fingerprint: (node.facts.kernel for node in fingerprint.nodes)),
    }


def _reported(part: Part, fingerprints: Sequence[Fingerprint]) -> dict[str, str]:
    releases = _values(
        fingerprints, lambda fingerprint: (f"release {node.release_version}" for node in fingerprint.reported_nodes)
    )
    looked_at = [fingerprint for fingerprint in fingerprints if fingerprint.nodes]
    hidden = _hardware(looked_at) if looked_at else dict.fromkeys(("Hardware of a node", "Kernel"), NOT_KNOWN)
    if part.provider.is_endpoint:
        return {**hidden, "Database": f"by its own word {releases}"}
    return {**hidden, "Database": f"speaks CQL; by its own word {releases}", "JVM": NOT_KNOWN}


def _jvms(fingerprint: Fingerprint) -> Iterator[str]:
    jvms = (process.jvm for node in fingerprint.nodes for process in node.processes)
    return (f"{jvm.name} {jvm.version}" for jvm in jvms if jvm)


def _measured(findings: Findings) -> str:
    """Return the span from the first start to the last end.

    Ends are told by the time that a load takes, since an invalid attempt may have broken off.
    """
    verdicts = [result.shown.verdict for result in findings.cells if result.shown]
    begun = [verdict.started_at for verdict in verdicts if verdict.started_at]
    if not begun:
        return _UNKNOWN
    begun_valid = [verdict.started_at for verdict in verdicts if verdict.started_at and verdict.valid]
    ended = [started_at + findings.part.timing.duration for started_at in begun_valid]
    first, last = moment(min(begun)), moment(max([*begun, *ended]))
    return first if first == last else f"{first}, to {last}"


def _values(fingerprints: Iterable[Fingerprint], of: Callable[[Fingerprint], Iterable[str]]) -> str:
    values = dict.fromkeys(value for fingerprint in fingerprints for value in of(fingerprint) if value)
    return listing(list(values), most=6) if values else _UNKNOWN


INTENDED = (
    "From an operation's intended start on a fixed schedule to its answer, so that a stall shows as high response "
    "times and not as missing operations."
)
_SENT = (
    "Not from the intended start of an operation: from its send, or from a start that the logs do not tell; the "
    "warnings say which. A stall then hides the operations that were due in it (coordinated omission), so high "
    "percentiles come out too low."
)


def methods_words(verdicts: Iterable[Verdict]) -> str:
    known = tuple(verdicts)
    omitting = sum(verdict.may_omit for verdict in known)
    if not omitting:
        return INTENDED
    if omitting == len(known):
        return _SENT
    return f"{INTENDED} In {omitting} of {plural(len(known), 'cell')}: {_SENT[0].lower()}{_SENT[1:]}"


def counted_from(verdicts: Iterable[Verdict]) -> str:
    """Return a clause for captions that begins with a comma: `, counted from their intended start`."""
    if any(verdict.may_omit for verdict in verdicts):
        return ", but not all of them counted from their intended start (coordinated omission)"
    return ", counted from their intended start"
