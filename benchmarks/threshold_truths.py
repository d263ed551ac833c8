"""Synthetic systems whose threshold is known, also such as the model of `plimsoll.strategies.threshold` does not fit.

`steps` is the natural log of a load over the system's own load. A system draws margins: logs of the worst interval's
percentile over its bound.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from plimsoll.strategies.threshold.question import CellObservation

Numbers = NDArray[np.float64]
Dice = np.random.Generator
Draw = Callable[[Numbers, Numbers, Dice], Numbers]
"""Margins at these steps, from a standard normal effect of each cell and from further dice."""
_DRAWS, _HALVINGS = 40_000, 30


@dataclass(frozen=True)
class Truth:
    """A kind of system."""

    draw: Draw
    drift: float = 0.0
    """The correlation between the effects of one cell and the next."""
    ends_early: bool = False
    """Whether a cell ends once it has missed, so that its margin is only known to be at least something."""

    def offset(self, chance: float) -> float:
        """Return the steps at which a cell meets with that chance."""
        dice = np.random.default_rng(1)
        effects, low, high = dice.standard_normal(_DRAWS), -4.0, 3.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            margins = self.draw(np.full(_DRAWS, middle), effects, np.random.default_rng(2))
            low, high = (middle, high) if (margins <= 0).mean() >= chance else (low, middle)
        return low


@dataclass
class System:
    """One system of a kind, which answers one cell after another."""

    truth: Truth
    own_load: float
    """The load (ops/s) from which steps are counted."""
    dice: Dice
    effect: float = 0.0

    def observe(self, load: float) -> CellObservation:
        """Run a cell at that load."""
        drift = self.truth.drift
        self.effect = drift * self.effect + float(np.sqrt(1 - drift**2) * self.dice.standard_normal())
        steps, effect = np.array([log(load / self.own_load)]), np.array([self.effect])
        margin = float(self.truth.draw(steps, effect, self.dice)[0])
        if margin <= 0:
            return CellObservation(load, "met", margin)
        if self.truth.ends_early:
            return CellObservation(load, "missed", float(self.dice.uniform(0, margin)), is_censored=True)
        return CellObservation(load, "missed", margin)


def straight(slope: float, noise: float) -> Draw:
    """Return a system whose margin rises by `slope` per e-fold of load, with normal noise."""
    return lambda steps, effects, _: slope * steps + noise * effects


def _heavy_tails(steps: Numbers, _: Numbers, dice: Dice) -> Numbers:
    noise: Numbers = dice.standard_t(3, len(steps)) / np.sqrt(3)
    return 3 * steps + 0.3 * noise


def _noisier_above(steps: Numbers, effects: Numbers, _: Dice) -> Numbers:
    return 3 * steps + 0.3 * np.exp(np.clip(steps, -1.5, 1.0)) * effects


def queue(busy_at_bound: float, noise: float) -> Draw:
    """Return a queue's waiting times, 1 / (1 - load); from 98.5 % of its capacity on hardly anything is answered."""

    def draw(steps: Numbers, effects: Numbers, _: Dice) -> Numbers:
        busy = busy_at_bound * np.exp(steps)
        waits = np.where(busy < 0.985, np.log(1 - busy_at_bound) - np.log(np.maximum(1 - busy, 1e-3)), 5.0)
        return waits + noise * effects

    return draw


def _cliff(steps: Numbers, effects: Numbers, _: Dice) -> Numbers:
    return np.where(steps < 0, -1.0, 2.0) + 0.1 * effects


def _pauses(steps: Numbers, effects: Numbers, dice: Dice) -> Numbers:
    """Return margins of two kinds, with a pause or without one. The load changes how often, and not by how much."""
    paused = dice.random(len(steps)) < 1 / (1 + np.exp(-6 * steps))
    return np.where(paused, 0.4, -0.6) + 0.1 * effects


def _regimes(steps: Numbers, effects: Numbers, dice: Dice) -> Numbers:
    """Return margins of which three in ten are of a slower kind, whatever the load."""
    return 3 * steps + 0.6 * (dice.random(len(steps)) < 0.3) + 0.15 * effects


def _hiccups(steps: Numbers, effects: Numbers, dice: Dice) -> Numbers:
    """Return the worst of 20 intervals, of which 3 % have a hiccup."""
    intervals = 0.15 * dice.standard_normal((len(steps), 20))
    hiccups = np.where(dice.random(intervals.shape) < 0.03, dice.exponential(0.5, intervals.shape), 0.0)
    worst: Numbers = (intervals + hiccups).max(axis=1)
    return 3 * steps + 0.1 * effects + worst


def _varying_queue(steps: Numbers, effects: Numbers, dice: Dice) -> Numbers:
    """Return waiting times of a queue whose service times differ from cell to cell."""
    busy = np.minimum(0.75 * np.exp(steps + 0.07 * effects), 0.999)
    waits: Numbers = -np.log(1 - busy) - np.log(4)
    return waits + 0.05 * dice.standard_normal(len(steps))


def _longest_pause(steps: Numbers, effects: Numbers, dice: Dice) -> Numbers:
    """Return the longest of pauses that become more with the load, and not longer."""
    pauses = dice.poisson(3 * np.exp(1.5 * steps))
    longest = np.array([dice.exponential(0.35, count).max(initial=0.0) for count in pauses])
    return longest - 0.8 + 0.05 * effects


def _saturating(steps: Numbers, effects: Numbers, _: Dice) -> Numbers:
    return 0.5 * np.tanh(2 * steps) + 0.25 * effects


def _plateau(steps: Numbers, effects: Numbers, _: Dice) -> Numbers:
    """Return margins that hardly rise over a twofold load around the bound."""
    inside = np.abs(steps) < 0.35
    return np.where(inside, 0.5 * steps, 3 * steps - np.sign(steps) * 0.875) + 0.15 * effects


TRUTHS: Mapping[str, Truth] = {
    "straight, noise 0.1": Truth(straight(3, 0.1)),
    "straight, noise 0.3": Truth(straight(3, 0.3)),
    "straight, noise 0.6": Truth(straight(3, 0.6)),
    "steep, noise 0.3": Truth(straight(6, 0.3)),
    "shallow, noise 0.1": Truth(straight(1.5, 0.1)),
    "shallow, noise 0.3": Truth(straight(1.5, 0.3)),
    "heavy tails": Truth(_heavy_tails),
    "noisier above": Truth(_noisier_above),
    "drift": Truth(straight(3, 0.3), drift=0.36),
    "ended early": Truth(straight(3, 0.3), ends_early=True),
    "queue": Truth(queue(0.8, 0.3)),
    "calm queue": Truth(queue(0.6, 0.1)),
    "cliff": Truth(_cliff),
    "bimodal pauses": Truth(_pauses),
    "two regimes": Truth(_regimes),
    "hiccups in 3 %": Truth(_hiccups),
    "varying queue": Truth(_varying_queue),
    "longest pause": Truth(_longest_pause),
    "saturating": Truth(_saturating),
    "plateau": Truth(_plateau),
}
"""The kinds of systems, by their names in the table."""
