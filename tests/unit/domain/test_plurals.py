import pytest

from plimsoll.domain.text.wording import plural


@pytest.mark.parametrize(("count", "words"), [(0, "0 cells"), (1, "1 cell"), (2, "2 cells"), (1100, "1,100 cells")])
def test_one_is_singular(count: int, words: str) -> None:
    assert plural(count, "cell") == words


def test_nouns_may_have_a_plural_of_their_own() -> None:
    assert plural(1, "host of AWS", "hosts of AWS") == "1 host of AWS"
    assert plural(2, "host of AWS", "hosts of AWS") == "2 hosts of AWS"
