"""What a load was asked for, as its host has it."""

import pytest

from plimsoll.adapters.generators.foreign_load import PLAN, parse_object
from plimsoll.domain.text.errors import LoadError


@pytest.mark.parametrize("text", ["{", "[1]", "null", "[" * 100_000])
def test_a_damaged_plan_is_an_error_that_names_it(text: str) -> None:
    with pytest.raises(LoadError, match=r"plan\.json is damaged"):
        parse_object(PLAN, text)


def test_a_load_that_was_never_started_has_no_plan() -> None:
    assert parse_object(PLAN, "") == {}
