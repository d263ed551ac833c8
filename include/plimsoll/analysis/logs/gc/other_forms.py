"""GC logs in forms that are not read: what they are, and what to give instead."""

import re

_FLAGS = (
    "start the JVM with -Xlog:gc*,safepoint:file=F:time,uptime,level,tags; JDK 8 with "
    "-XX:+PrintGCDetails -XX:+PrintGCDateStamps -XX:+PrintGCApplicationStoppedTime"
)
_FORMS = (
    (
        re.compile(r"^[^\[\]\n]+[^\s\[] *\[\d{4}-\d\d-\d\dT[^\]]+\]\[", re.MULTILINE),
        "has another program's words before the JVM's lines",
        f"give the log without them (`docker compose logs --no-log-prefix`), or {_FLAGS}",
    ),
    (
        re.compile(r"<verbosegc\b"),
        "is a log of OpenJ9, which is not read",
        "judge the run without it, or run the database on a JVM with HotSpot",
    ),
)


def unknown_form(text: str) -> str:
    """Say what a text is that no line of a known GC log is in."""
    return next(
        (what for form, what, _ in _FORMS if form.search(text)),
        "is not a unified GC log with time, uptime, level and tags",
    )


def instead(text: str) -> str:
    """Say what to give instead of a log that is not read."""
    return next((mend for form, _, mend in _FORMS if form.search(text)), _FLAGS)
