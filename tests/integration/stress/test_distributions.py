"""Every distribution against its theory: Pearson's chi-square on big samples, and a few exact properties.

The seeds are fixed, so a test passes or fails for good. Each would have failed at one seed in a thousand if the
generator were right (`FALSE_ALARM`); none of the seeds below was chosen for its outcome.
"""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

FALSE_ALARM = 0.001
SAMPLE = 200_000


@pytest.fixture
def drawn(ask: Callable[..., Any]) -> Any:
    """Counts by number of a big sample: an array from 0 to the largest number asked for."""

    def draw(size: Any, count: Any = SAMPLE, seed: int = 1, **parameters: Any) -> Any:
        (answer,) = ask(f"draw {json.dumps(parameters, separators=(',', ':'))} {count} {seed}")
        assert not answer.startswith("refused"), answer
        counts = np.zeros(size)
        for pair in answer.split():
            number, times = pair.split(":")
            counts[int(number)] = int(times)
        return counts

    return draw


def p_value(counts: Any, chances: Any) -> Any:
    """Of Pearson's test; cells that are expected fewer than 10 times are put together."""
    expected = np.asarray(chances) / np.sum(chances) * counts.sum()
    rare = expected < 10
    seen = np.append(counts[~rare], counts[rare].sum())
    told = np.append(expected[~rare], expected[rare].sum())
    if told[-1] == 0:
        assert seen[-1] == 0
        seen, told = seen[:-1], told[:-1]
    return stats.chisquare(seen, told).pvalue


def test_uniform(drawn: Any) -> None:
    assert p_value(drawn(100, distribution="uniform", max=99), np.ones(100)) > FALSE_ALARM


def test_a_range_need_not_begin_at_0(drawn: Any) -> None:
    counts = drawn(60, distribution="uniform", min=50, max=59)
    assert counts[:50].sum() == 0
    assert p_value(counts[50:], np.ones(10)) > FALSE_ALARM


def test_normal_is_gauss_bell_rounded(drawn: Any) -> None:
    counts = drawn(101, distribution="normal", max=100, mean=40, deviation=12)
    edges = np.arange(102) - 0.5
    assert p_value(counts, np.diff(stats.norm(40, 12).cdf(edges))) > FALSE_ALARM


def test_normal_is_by_default_cassandra_stress_s(drawn: Any) -> None:
    """Mean in the middle, half of the range over three as deviation; what falls outside becomes the bound."""
    counts = drawn(101, distribution="normal", max=100, outside="clamp")
    edges = np.concatenate([[-np.inf], np.arange(100) + 0.5, [np.inf]])
    assert p_value(counts, np.diff(stats.norm(50, 50 / 3).cdf(edges))) > FALSE_ALARM


def gray(items: Any, constant: Any) -> Any:
    """Return the chances that the algorithm of Gray et al. gives the ranks, from its own cumulative curve."""
    zeta = (np.arange(1, items + 1) ** -constant).sum()
    eta = (1 - (2 / items) ** (1 - constant)) / (1 - (1 + 0.5**constant) / zeta)
    ranks = np.arange(1, items + 1)
    below = ((ranks / items) ** (1 - constant) - 1 + eta) / eta
    cumulative = np.clip(below, (1 + 0.5**constant) / zeta, 1)
    cumulative[0] = 1 / zeta
    return np.diff(np.concatenate([[0], cumulative]))


@pytest.mark.parametrize("constant", [0.5, 0.99])
def test_zipfian_is_the_algorithm_of_gray(drawn: Any, constant: Any) -> None:
    counts = drawn(1000, distribution="zipfian", max=999, constant=constant)
    assert p_value(counts, gray(1000, constant)) > FALSE_ALARM


def test_zipfian_gives_the_first_two_ranks_their_exact_share(drawn: Any) -> None:
    counts = drawn(1000, distribution="zipfian", max=999)
    exact = np.arange(1, 1001) ** -0.99 / (np.arange(1, 1001) ** -0.99).sum()
    for rank in (0, 1):
        assert stats.binomtest(int(counts[rank]), SAMPLE, exact[rank]).pvalue > FALSE_ALARM


def test_of_many_ranks_the_first_has_ycsb_s_share(drawn: Any) -> None:
    """YCSB's own constant for 10,000,000,000 ranks: zeta is 26.46902820178302."""
    (answer,) = [drawn(1, count=SAMPLE, distribution="zipfian", max=0, constant=0.99)]
    assert answer[0] == SAMPLE
    counts = drawn(10, distribution="zipfian", max=9, scrambled=True)
    favourite = 26.46902820178302
    # The first rank's number has at least that rank's share.
    assert counts.max() / SAMPLE > 0.9 / favourite


def fnv(number: Any) -> Any:
    """FNV-1a of 64 bits over the number's eight octets, lowest first, as `site.ycsb.Utils.fnvhash64`."""
    value = 0xCBF29CE484222325
    for octet in number.to_bytes(8, "little"):
        value = (value ^ octet) * 1099511628211 % 2**64
    return abs(value - 2**64 if value >= 2**63 else value)


def test_the_hash_is_ycsb_s(ask: Callable[..., Any]) -> None:
    numbers = (0, 1, 2, 255, 256, 1_000_000_007, 10**10 - 1)
    assert [int(answer) for answer in ask(*(f"hash {number}" for number in numbers))] == [fnv(one) for one in numbers]


def test_scrambled_spreads_what_zipfian_crowds_at_the_beginning(drawn: Any) -> None:
    plain = drawn(1000, distribution="zipfian", max=999)
    scrambled = drawn(1000, distribution="zipfian", max=999, scrambled=True)
    assert plain.argmax() == 0
    assert plain[:10].sum() > 3 * scrambled[:10].sum()
    assert scrambled.max() > 20 * np.median(scrambled[scrambled > 0])


def test_latest_is_zipfian_from_the_end(drawn: Any) -> None:
    counts = drawn(1000, distribution="latest", max=999)
    assert p_value(counts[::-1], gray(1000, 0.99)) > FALSE_ALARM


def test_exponential_falls_off_as_ycsb_s(drawn: Any) -> None:
    """95 % lie within 0.857… of the range, before what lies beyond it is drawn again."""
    counts = drawn(100, distribution="exponential", max=99)
    decay = -math.log(1 - 0.95) / (0.8571428571 * 100)
    assert p_value(counts, np.diff(-np.exp(-decay * np.arange(101)))) > FALSE_ALARM


def test_a_hot_set_has_its_share(drawn: Any) -> None:
    counts = drawn(100, distribution="hotspot", max=99, hot_set=0.2, hot_share=0.8)
    chances = np.concatenate([np.full(20, 0.8 / 20), np.full(80, 0.2 / 80)])
    assert p_value(counts, chances) > FALSE_ALARM


def test_a_sequence_leaves_out_none_and_begins_again(drawn: Any) -> None:
    assert (drawn(10, count=35, distribution="sequence", max=9) == [4, 4, 4, 4, 4, 3, 3, 3, 3, 3]).all()


def test_a_fixed_number_is_always_the_same(drawn: Any) -> None:
    assert drawn(8, count=100, distribution="fixed", value=7)[7] == 100


@pytest.mark.parametrize("name", ["uniform", "normal", "zipfian", "latest", "exponential", "hotspot"])
def test_the_same_seed_draws_the_same(drawn: Any, name: str) -> None:
    first, again = (drawn(1000, count=500, seed=3, distribution=name, max=999) for _ in range(2))
    other = drawn(1000, count=500, seed=4, distribution=name, max=999)
    assert (first == again).all()
    assert (first != other).any()


def test_the_chi_square_can_fail(drawn: Any) -> None:
    """A sample of one distribution is refused as one of another that differs by little."""
    counts = drawn(1000, distribution="zipfian", max=999, constant=0.99)
    assert p_value(counts, gray(1000, 0.97)) < FALSE_ALARM


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"distribution": "zipf", "max": 9}, "no distribution is called 'zipf'"),
        ({"distribution": "uniform"}, "max: is missing"),
        ({"distribution": "uniform", "min": 9, "max": 3}, "min lies above max"),
        ({"distribution": "zipfian", "max": 9, "constant": 1.2}, "is not between 0.01 and 0.999"),
        ({"distribution": "uniform", "max": 9, "mean": 4}, "has no option 'mean'"),
        ({"distribution": "normal", "max": 9, "deviation": 1e15}, "nearly all numbers of a deviation of 1.0E15 lie"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(ask: Callable[..., Any], parameters: Any, said: str) -> None:
    (answer,) = ask(f"draw {json.dumps(parameters, separators=(',', ':'))} 1 1")
    assert answer.startswith("refused: ")
    assert said in answer


@pytest.fixture
def requested(ask: Callable[..., Any]) -> Any:
    """Provide the numbers that a YCSB workload of 1,000 rows asks for, with their counts, the most frequent first."""

    def ask_for(name: str, **options: Any) -> Any:
        given = {"recordcount": 1000, "insertorder": "ordered", **options}
        (answer,) = ask(f"requested {name} {json.dumps(given, separators=(',', ':'))} 50000")
        pairs = [pair.split(":") for pair in answer.split()]
        return {int(key.removeprefix("user")): int(count) for key, count in pairs}

    return ask_for


def test_the_hot_keys_are_ycsb_s(requested: Any) -> None:
    """Its modulus is one more than the rows, and a number without a row is drawn again."""
    hottest = list(requested("YcsbC"))[:5]
    ranks = [fnv(rank) % 1001 for rank in range(50)]
    assert hottest == [number for number in ranks if number < 1000][:5]


def test_the_hot_keys_of_a_workload_with_inserts_are_ycsb_s(requested: Any) -> None:
    """Its modulus counts on twice the inserts of a run as well: 2 x 5 % of 10,000. A new row may be the hottest."""
    counts = requested("YcsbB", readproportion=0.95, updateproportion=0, insertproportion=0.05, operationcount=10_000)
    assert set(list(counts)[:2]) == {fnv(0) % 2001, fnv(1) % 2001}
    assert next(iter(counts)) >= 1000


def test_exponential_requests_prefer_the_newest_rows(requested: Any) -> None:
    counts = requested("YcsbC", requestdistribution="exponential")
    newest = sum(count for number, count in counts.items() if number >= 1000 - 857.1428571)
    assert stats.binomtest(newest, 50_000, 0.95 / (1 - 0.05 ** (1 / 0.8571428571))).pvalue > FALSE_ALARM
    assert max(counts) == 999


def test_latest_requests_never_ask_for_the_oldest_row(requested: Any) -> None:
    """YCSB's are drawn from as many ranks as there are rows, less one."""
    counts = requested("YcsbC", requestdistribution="latest", recordcount=5)
    assert sorted(counts) == [1, 2, 3, 4]
    assert next(iter(counts)) == 4
