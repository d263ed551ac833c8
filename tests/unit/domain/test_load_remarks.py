"""Loads that a person may not have meant: `plan` says what is run of them."""

from plimsoll.domain.keys.loads import load_remarks


def test_a_range_that_steps_over_its_end_is_told() -> None:
    content = {"loads": {"from": "1k/s", "to": "5500/s", "step": "1k/s"}}
    assert list(load_remarks(content)) == [
        "loads end at 5000/s: the step 1000/s leads from there over `to`, 5500/s, which is not run"
    ]


def test_a_list_that_falls_is_told_of_the_stage_that_has_it() -> None:
    content = {"stages": [{"id": "max"}, {"id": "top", "loads": ["600/s", "500/s"]}]}
    [remark] = load_remarks(content)
    assert remark.startswith("stages[1].loads fall")


def test_loads_as_they_should_be_are_not_remarked_on() -> None:
    stages = [{"loads": {"share": "70%", "of": "max"}}, {"loads": "none"}]
    assert not list(load_remarks({"loads": {"from": "1k/s", "to": "5k/s", "step": "2k/s"}, "stages": stages}))
    assert not list(load_remarks({"loads": ["1k/s", "2k/s"]}))
