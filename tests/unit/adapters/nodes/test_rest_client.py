import json
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import Any

import pytest

from plimsoll.adapters.products.nodes import rest_client

URL = "127.0.9.1:16030/jmx"


class Answers:
    """What the URL answers, one after the other, the last one for ever; an exception is raised."""

    def __init__(self, answers: Sequence[Any]) -> None:
        self._left: Iterator[Any] = chain(answers, repeat(answers[-1]))
        self.asked = 0

    def __call__(self, url: str) -> bytes:
        self.asked += 1
        answer = next(self._left)
        if isinstance(answer, Exception):
            raise answer
        return json.dumps(answer).encode()


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Provide `ask(*answers)`, which makes the URL answer so, and waits without time passing."""

    def scripted(*answers: Any) -> Answers:
        scripted_answers = Answers(answers)
        monkeypatch.setattr(rest_client, "_read", scripted_answers)
        monkeypatch.setattr("time.sleep", lambda _: None)
        return scripted_answers

    return scripted


def test_it_settles_once_there_was_no_work_three_times_in_a_row(ask: Any) -> None:
    answers = ask(2, 0, 1, 0, 0, 0)
    assert rest_client.settled(60, (), [URL]) | {"waited_s": 0} == {
        "settled": True,
        "left": {URL: 0},
        "waited_s": 0,
        "error": "",
    }
    assert answers.asked == 6


def test_work_is_counted_by_the_endings_of_names_at_any_depth() -> None:
    answer = {
        "beans": [{"flushQueueLength": 2, "other": 9}, {"ns_t1_compactionsQueuedCount": 3, "name": "QueueLength"}]
    }
    assert sum(rest_client.work_left(answer, ("QueueLength", "QueuedCount"))) == 5
    assert list(rest_client.work_left({"a": 7}, ())) == []


def test_the_time_ends_the_wait_with_what_is_left(ask: Any) -> None:
    ask(4)
    found = rest_client.settled(0, (), [URL])
    assert (found["settled"], found["left"]) == (False, {URL: 4})


def test_a_process_that_does_not_answer_is_not_settled(ask: Any) -> None:
    ask(OSError("refused"))
    assert rest_client.settled(0, (), [URL]) == {"settled": False, "left": {}, "waited_s": 0.0, "error": "refused"}


def test_answers_and_errors_are_told_in_the_order_of_the_urls(ask: Any) -> None:
    ask({"a": 1}, OSError("refused"))
    assert rest_client.main("get", URL, URL) == [{"answer": {"a": 1}}, {"error": "refused"}]
