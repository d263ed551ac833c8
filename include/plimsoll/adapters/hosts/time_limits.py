"""A command's time limit that its host itself keeps, whatever becomes of whoever asked for it, by `timeout`."""

KILLING_S = 10
"""The time after which a command is killed that was asked to end, s."""
ENDED, KILLED, NOT_FOUND = 124, 137, 127
"""The exit codes of `timeout` where the command ended once it was asked to, where it had to be killed, and where there
is no such program; a shell has the last one, too.
"""


def within(seconds: float) -> tuple[str, ...]:
    """Return the words before a command that is asked to end after that time, s, and killed if it does not."""
    return ("timeout", f"--kill-after={KILLING_S}", f"{seconds:g}")
