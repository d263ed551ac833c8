"""Signals become one exception, never where it must not come."""

import signal

import pytest

from plimsoll_airflow.local.launcher import SIGNALS, Interrupted, Interrupts


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_the_first_signal_is_raised_with_its_exit_code(number: signal.Signals) -> None:
    with Interrupts().caught(), pytest.raises(Interrupted) as raised:
        signal.raise_signal(number)
    assert raised.value.exit_code == 128 + number
    assert str(raised.value) == number.name


def test_later_signals_are_only_counted() -> None:
    interrupts = Interrupts()
    with interrupts.caught():
        with pytest.raises(Interrupted):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
    assert interrupts.count == 3


def test_a_shielded_block_is_finished_before_the_signal_is_raised() -> None:
    interrupts, done = Interrupts(), []

    def work() -> None:
        with interrupts.shielded(), interrupts.shielded():
            signal.raise_signal(signal.SIGINT)
            done.append("finished")

    with interrupts.caught(), pytest.raises(Interrupted):
        work()
    assert done == ["finished"]


def test_an_error_in_a_shielded_block_is_not_hidden_by_a_signal() -> None:
    interrupts = Interrupts()

    def work() -> None:
        with interrupts.shielded():
            signal.raise_signal(signal.SIGINT)
            raise ValueError("own")

    with interrupts.caught(), pytest.raises(ValueError, match="own"):
        work()


def test_the_handlers_of_before_are_back_afterwards() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with Interrupts().caught():
        assert [signal.getsignal(number) for number in SIGNALS] != before
    assert [signal.getsignal(number) for number in SIGNALS] == before
