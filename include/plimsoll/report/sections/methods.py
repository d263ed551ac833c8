"""The methods behind the figures, as far as they are not the same for every campaign."""

from collections.abc import Mapping
from typing import Any

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.domain.keys.strategy import FullGrid, Search
from plimsoll.report.sections.section import Section
from plimsoll.report.words.response_times import methods_words

_IMPORTED = (
    "The cells were imported. The order in which they were measured was not Plimsoll's, so a drift of the machines "
    "over time may favour a variant or a load."
)
_BY_VARIANT = (
    "Hosts are kept for a variant, so all its cells run before those of the next one: a drift of the machines over "
    "time may favour a variant."
)
_BY_RESULTS = (
    "A {strategy} decides by the results so far which cells run next, so loads follow one another in no random order."
)
_SAME_DATA = "A repeat's loads follow one another on the same data, from the lowest up."


def order_words(findings: Findings) -> str:
    """Return the order in which the cells ran, and what a drift of the machines over time could do to the results."""
    part = findings.part
    if any(result.shown and result.shown.provenance for result in findings.cells):
        return _IMPORTED
    by_variant, strategy = part.cluster_scope == "variant", part.strategy
    what = "loads" if by_variant else "variants and loads"
    sentences = [f"Each repeat is a block: all {what} once, shuffled by the definition's seed ({part.seed})"]
    if isinstance(strategy, FullGrid) and not by_variant:
        return f"{sentences[0]}, so that a drift of the machines over time does not favour a variant."
    if not isinstance(strategy, FullGrid):
        who = "the variants" if not by_variant else "the cells"
        sentences = [f"The order of {who} within a repeat is shuffled by the definition's seed ({part.seed})"]
    facts = [
        "" if isinstance(strategy, FullGrid) else _BY_RESULTS.format(strategy=strategy.name),
        {"cell": "", "repeat": _SAME_DATA}[part.data_scope],
        _BY_VARIANT if by_variant else "",
    ]
    return " ".join([f"{sentences[0]}.", *filter(None, facts)])


def _context(findings: Findings) -> Mapping[str, Any]:
    strategy = findings.part.strategy
    return {
        "response_time": methods_words(result.verdict for result in findings.cells if result.verdict),
        "order": order_words(findings),
        "is_fast": isinstance(strategy, Search) and strategy.mode == "fast",
    }


METHODS = Section("methods", "Methods", context=_context)
