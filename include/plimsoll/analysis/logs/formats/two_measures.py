"""Ask about tracks of unknown tools that may be no operations of their own, since tracks are added up."""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from plimsoll.analysis.logs.formats.selection import IN_FLIGHT, Measure, total
from plimsoll.analysis.logs.operations import Track
from plimsoll.domain.text.errors import LogError

_SERVICE = r"service([-_ ]?times?)?|raw|uncorrected|st|requests?"
_RESPONSE = r"response([-_ ]?times?)?|intended|co[-_ ]?fixed|corrected|rt"
_OTHERS = rf"{_RESPONSE}|actual|wait([-_ ]?times?)?|wt|queued?|cycles?|plain|total|all"
_WORD = re.compile(rf"(?<![a-z])({_SERVICE}|{_OTHERS})(?![a-z])", re.IGNORECASE)
_FAILURES = r"err(or)?s?|exceptions?|fail(s|ed|ures?|ing)?|time[sd]?[-_ ]?outs?|unavailables?|rejected|aborted"
_WORDS_OF: Mapping[Measure, re.Pattern[str]] = {
    "service time": re.compile(rf"(?<![a-z])({_SERVICE})(?![a-z])", re.IGNORECASE),
    "response time": re.compile(rf"(?<![a-z])({_RESPONSE})(?![a-z])", re.IGNORECASE),
    "time of failures": re.compile(rf"(?<![a-z])({_FAILURES})(?![a-z])"),
}
_MEND = (
    "name the tags to judge, `--tags NAME` (of an import, `tags: [NAME]`), both if they are two operations; or give "
    "the files of one measure alone; or say what they are, `--operation NAME=reads|writes`"
)


def names_measure(name: str, measure: Measure) -> bool:
    """Tell whether the name of a tag or file says that it holds that measure: response or service times, failures."""
    return bool(_WORDS_OF[measure].search(_in_words(name)))


def refuse_two_measures(tracks: Sequence[Track], kinds: Mapping[str, str], named: Collection[str] = ()) -> None:
    """Raise LogError where two tracks look like two measures of the same operations, or one like all the others.

    They do so by their names, as `g1.response` and `g1.service`, or because they hold equally many values, give or take
    what was in flight when the run ended. Counts tell nothing of tracks whose operations are known. Tracks of failures,
    by their names, are asked about too. `named`: the tracks from files whose names say operation and measure.
    """
    for track in tracks:
        if names_measure(track.operation, "time of failures"):
            what = "is named like failures: are these answered operations?"
            mend = f"{_MEND}. Failures with a tag are counted as such where `--tags` does not name them"
            raise LogError(what, where=track.name, mend=mend)
    for first, second in combinations(tracks, 2):
        if _bare(first.name) == _bare(second.name):
            _refuse(first, second.name, "differ by the name of a measure alone")
    known = {*kinds, *kinds.values(), *(track.operation.lower() for track in tracks if track.name in named)}
    if len(tracks) < 2 or {track.operation.lower() for track in tracks} <= known:
        return
    counts = [total(track.records, track.name) or 0 for track in tracks]
    for (first, count), (second, other_count) in combinations(zip(tracks, counts, strict=True), 2):
        if not {first.operation.lower(), second.operation.lower()} <= known and _alike(count, other_count):
            _refuse(first, second.name, f"hold equally many values ({count:,} and {other_count:,})")
    for track, count in zip(tracks, counts, strict=True):
        if track.operation.lower() not in known and _alike(count, sum(counts) - count):
            _refuse(track, "the others together", f"hold equally many values ({count:,} and {sum(counts) - count:,})")


def _alike(count: int, other: int) -> bool:
    return max(count, other) > 0 and abs(count - other) <= IN_FLIGHT * max(count, other)


def _bare(name: str) -> str:
    """Return the name without the words for a measure."""
    return re.sub(r"[^a-z0-9]+", " ", _WORD.sub(" ", _in_words(name))).strip()


def _in_words(name: str) -> str:
    """Return the name in small letters, with a space where `camelCase` begins a word."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def _refuse(track: Track, other: str, why: str) -> None:
    what = f"and {other} {why}: are they two measures of the same operations?"
    raise LogError(what, where=track.name, mend=_MEND)
