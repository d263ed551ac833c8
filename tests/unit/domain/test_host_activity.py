import pytest

from plimsoll.domain.keys.host_bounds import Disturbance, HostActivity, noise

CALM = HostActivity(foreign_cpu=0.04, steal=0.0, throttled=None, memory_available_bytes=8e9)


def test_a_calm_host_has_nothing_to_tell() -> None:
    assert noise(CALM, Disturbance()) == ""
    assert noise(HostActivity(None, 0.0, None, 8e9), Disturbance()) == ""


def test_each_noise_beyond_its_bound_is_told_with_the_programs_that_took_most() -> None:
    busy = HostActivity(0.76, 0.08, 0.5, 8e9, (("yes(77)", 0.5), ("cc1(9)", 0.26)))
    assert noise(busy, Disturbance()) == (
        "other programs take 76% of its processors (yes(77) 50%, cc1(9) 26%), other machines take 8% of its "
        "processors, its CPU quota is used up in 50% of all periods"
    )
    wide = Disturbance.model_validate({"foreign_cpu": "80%", "steal": "10%", "throttled": "60%"})
    assert noise(busy, wide) == ""


@pytest.mark.parametrize("key", ["foreign_cpu", "steal", "throttled"])
def test_a_bare_1_is_refused_since_as_all_it_would_switch_the_check_off(key: str) -> None:
    with pytest.raises(ValueError, match="1 is not a percentage like 1% or 100%"):
        Disturbance.model_validate({key: 1})
    assert getattr(Disturbance.model_validate({key: "1%"}), key) == 1
