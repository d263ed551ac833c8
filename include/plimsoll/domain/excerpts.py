"""Show output of programs to people: short, so that one message does not fill a page, and harmless on a terminal."""

_LONGEST_LINE = 300
_MOST_LINES = 24


def visible(text: str) -> str:
    """Write control characters as escapes, for example `\\x1b`, except for line ends and tabs.

    A terminal obeys control characters: a line in a stranger's log could retitle it, or hide and rewrite what it shows.
    """
    return "".join(one if one.isprintable() or one in "\n\t" else ascii(one)[1:-1] for one in text)


def shortened(line: str, longest: int = _LONGEST_LINE) -> str:
    """Return the line without the middle part where it is long: a configuration of 10,000 characters becomes 300."""
    if len(line) <= longest:
        return line
    left_out = f" … ({len(line) - longest:,} characters left out) … "
    begin = max(0, longest - longest // 4)
    return f"{line[:begin]}{left_out}{line[len(line) - (longest - begin) :]}"


def excerpt(text: str) -> str:
    """Return a text of several lines with each line shortened.

    Where there are too many lines, only the first are kept.
    """
    lines = text.splitlines()
    shown = [shortened(line) for line in lines[:_MOST_LINES]]
    return "\n".join([*shown, f"… ({len(lines) - _MOST_LINES} more lines)"] if len(lines) > _MOST_LINES else shown)
