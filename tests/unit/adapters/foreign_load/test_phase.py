from plimsoll.adapters.generators.foreign_load import LOAD, Plan, phase_of


def test_a_program_that_runs_on_after_the_judged_time_says_that_it_ends_soon() -> None:
    plan = Plan(duration_s=60, warmup_s=10)
    assert (phase_of(plan, LOAD, 59.0).note, phase_of(plan, LOAD, 59.0).seconds_left) == ("", 1.0)
    over = phase_of(plan, LOAD, 62.0)
    assert (over.phase, over.seconds_left) == ("load", 0.0)
    assert over.note == "its judged time is over: the program ends within about 5 s"
