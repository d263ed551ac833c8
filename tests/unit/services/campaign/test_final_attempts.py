"""What is remembered of campaigns, and how much at most."""

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.services.campaign.state.reading import FinalAttempt, FinalAttempts


def found(campaign_id: str, count: int) -> dict[FinalAttempt, str]:
    keys = [AttemptKey(campaign_id=campaign_id, cell_id="v1-001k-r1", attempt=1 + number) for number in range(count)]
    return {(key, "stamp"): str(key) for key in keys}


def test_what_was_found_last_is_all_that_is_remembered_of_a_campaign() -> None:
    remembered: FinalAttempts[str] = FinalAttempts()
    remembered.replace("a", found("a", 3))
    remembered.replace("a", found("a", 2))
    assert (remembered.of("a"), len(remembered)) == (found("a", 2), 2)
    remembered.forget("a")
    remembered.forget("none")
    assert (remembered.of("a"), len(remembered)) == ({}, 0)


def test_beyond_the_limit_the_campaigns_read_longest_ago_are_forgotten() -> None:
    remembered: FinalAttempts[str] = FinalAttempts(limit=5)
    for name in ("a", "b", "a", "c"):
        remembered.replace(name, found(name, 2))
    assert [bool(remembered.of(name)) for name in ("a", "b", "c")] == [True, False, True]


def test_a_campaign_larger_than_the_limit_is_remembered_alone() -> None:
    remembered: FinalAttempts[str] = FinalAttempts(limit=5)
    remembered.replace("a", found("a", 2))
    remembered.replace("large", found("large", 9))
    assert (remembered.of("a"), len(remembered.of("large"))) == ({}, 9)
