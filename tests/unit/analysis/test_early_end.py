"""A load that is ended once it has missed comes to the same outcome as the whole load."""

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.campaigns.interval_logs import every_second, log

from plimsoll.analysis.attempt.judgement import Judgement, Run
from plimsoll.analysis.attempt.service_level_evaluation import judge_logs
from plimsoll.domain.keys.service_level import ServiceLevel

WARMUP_S, INTERVAL_S, LEAST = 2, 2, 3
LEVEL = ServiceLevel.model_validate({"percentile": 99, "interval": "2s", "below": "100ms"})
SECONDS_US = st.lists(st.sampled_from([5_000, 99_000, 101_000, 400_000]), min_size=16, max_size=16)


def judged(seconds_us: list[int]) -> Judgement:
    run = Run(timedelta(seconds=WARMUP_S), timedelta(seconds=len(seconds_us)))
    text = log(every_second([[one] * 3 for one in seconds_us]))
    return judge_logs({"x.hdr-intended-reads": text}, run, [LEVEL], unit="us")


@settings(max_examples=60, deadline=None)
@given(SECONDS_US)
def test_the_outcome_is_the_same(seconds_us: list[int]) -> None:
    whole = judged(seconds_us)
    ends = range(WARMUP_S + LEAST * INTERVAL_S, len(seconds_us) + 1, INTERVAL_S)
    ended = next((one for end in ends if not (one := judged(seconds_us[:end])).met), whole)
    assert whole.valid
    assert (ended.valid, ended.met) == (True, whole.met)
    assert ended.levels[0].judged >= LEAST
