"""Measure how far a host's clock is ahead of the controller's, by round trips over an open connection.

The method is that of NTP (RFC 5905, section 8). The controller records when it asks (t1) and when the answer arrives
(t4); the host records when it receives the question (t2) and when it answers (t3). The offset is ((t2 - t1) + (t3 -
t4)) / 2. Its error is at most half of the time on the way, (t4 - t1) - (t3 - t2). Of several round trips the quickest
one is used.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import paramiko

from plimsoll.domain.load_start import ClockReading

ROUNDS = 9
_LONGEST = 100
"""The greatest length of an answer, bytes: two times in ns."""
SCRIPT = """\
import sys, time
for _ in sys.stdin.buffer:
    got = time.time_ns()
    print(got, time.time_ns(), flush=True)
"""


@dataclass(frozen=True)
class RoundTrip:
    """Four times in ns since the epoch: asked and answered (controller's clock), received and sent (host's clock)."""

    asked: int
    got: int
    sent: int
    answered: int

    @property
    def on_the_way_ns(self) -> int:
        """Return the time on the way there and back, without the host's own time."""
        return (self.answered - self.asked) - (self.sent - self.got)

    @property
    def offset_ns(self) -> float:
        """Return the host's clock less the controller's."""
        return ((self.got - self.asked) + (self.sent - self.answered)) / 2


def reading(trips: Sequence[RoundTrip]) -> ClockReading:
    """Return the offset of the quickest round trip, with its greatest possible error. Pure."""
    quickest = min(trips, key=lambda trip: trip.on_the_way_ns)
    # Whoever steps the controller's clock in between may make it negative.
    error_ms = max(0.0, quickest.on_the_way_ns / 2 / 1e6)
    return ClockReading(offset_ms=quickest.offset_ns / 1e6, error_ms=error_ms)


def round_trips(channel: paramiko.Channel) -> list[RoundTrip]:
    """Ask the script on the channel. Raises EOFError or OSError when the link is lost, ValueError for other answers."""
    with channel.makefile("rb") as answers:
        return [_round_trip(channel, answers) for _ in range(ROUNDS)]


def _round_trip(channel: paramiko.Channel, answers: paramiko.ChannelFile) -> RoundTrip:
    asked = time.time_ns()
    channel.sendall(b"\n")
    line = answers.readline(_LONGEST)
    answered = time.time_ns()
    got, sent = (int(word) for word in line.split())
    return RoundTrip(asked, got, sent, answered)
