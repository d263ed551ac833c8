import numpy as np
import pytest

from plimsoll.analysis.trend.change_points import SMALLEST, Change, change_points


def series(*levels: tuple[float, int], noise: float = 0.03, seed: int = 1) -> list[float]:
    """Return so many figures of each level, one after the other, with noise as a share of them."""
    random = np.random.default_rng(seed)
    return [float(level * np.exp(random.normal(0, noise))) for level, count in levels for _ in range(count)]


def places(found: tuple[Change, ...]) -> list[int]:
    return [one.place for one in found]


def test_a_step_is_found_at_its_place_with_its_size() -> None:
    (found,) = change_points(series((20.0, 20), (23.0, 10)))
    assert found.place == 20
    assert (found.before, found.after) == (pytest.approx(20, rel=0.02), pytest.approx(23, rel=0.02))
    assert found.ratio == pytest.approx(1.15, rel=0.03)
    assert found.p < 1e-6
    assert not found.gradual


def test_a_step_down_is_found() -> None:
    (found,) = change_points(series((23.0, 20), (20.0, 10)))
    assert (found.place, found.after < found.before) == (20, True)


@pytest.mark.parametrize("seed", range(20))
def test_noise_alone_has_no_change(seed: int) -> None:
    assert change_points(series((20.0, 30), seed=seed)) == ()


def test_the_same_figures_give_the_same_changes() -> None:
    figures = series((20.0, 20), (22.0, 8), (20.0, 20))
    assert change_points(figures) == change_points(figures)


def test_two_steps_are_two_changes_with_the_means_between_them() -> None:
    first, second = change_points(series((20.0, 20), (25.0, 20), (20.0, 20)))
    assert (first.place, second.place) == (20, 40)
    assert first.after == second.before == pytest.approx(25, rel=0.02)


def test_a_later_level_hides_no_earlier_change() -> None:
    assert places(change_points(series((20.0, 70), (24.0, 70), (19.0, 70)))) == [70, 140]


def test_unknown_figures_are_skipped_and_places_count_them() -> None:
    known: list[float | None] = list(series((20.0, 20), (23.0, 10)))
    assert places(change_points([None, None, *known[:10], None, *known[10:20], None, *known[20:], None])) == [24]


def test_a_constant_series_has_no_change() -> None:
    assert change_points([40_000.0] * 30) == ()


def test_levels_without_any_noise_differ() -> None:
    (found,) = change_points([40_000.0] * 6 + [35_000.0] * 6)
    assert (found.place, found.before, found.after) == (6, pytest.approx(40_000), pytest.approx(35_000))


@pytest.mark.parametrize("figures", [[], [1.0], [None] * 30, [1.0, 1.0, 1.0, 5.0, 5.0], [1.0] * 3 + [5.0] * 4])
def test_too_few_figures_tell_nothing(figures: list[float | None]) -> None:
    assert change_points(figures) == ()


@pytest.mark.parametrize("odd", [1, 2])
def test_a_few_odd_figures_are_no_new_level(odd: int) -> None:
    assert change_points(series((20.0, 14), (60.0, odd), (20.0, 14))) == ()
    assert change_points(series((20.0, 28), (60.0, odd))) == ()


def test_eight_figures_are_enough() -> None:
    assert places(change_points([1.0] * 3 + [5.0] * 5)) == [3]


def test_three_figures_at_the_end_are_enough() -> None:
    assert places(change_points(series((20.0, 20), (24.0, 3)))) == [20]


def test_a_sure_change_that_is_too_small_is_not_told() -> None:
    assert change_points(series((100.0, 20), (100 * (1 + SMALLEST / 2), 20), noise=0.0001)) == ()


def test_a_slow_drift_is_told_as_gradual() -> None:
    noise = series((1.0, 30))
    found = change_points([20 * one * 1.3 ** (place / 30) for place, one in enumerate(noise)])
    assert found
    assert all(one.gradual for one in found)


def test_figures_with_zeros_are_compared_as_they_are() -> None:
    (found,) = change_points([0.0, 0.01, 0.02, 0.0, 0.01, 0.02, 0.01, 0.5, 0.52, 0.49, 0.51, 0.5])
    assert found.place == 7
    (from_nothing,) = change_points([0.0] * 6 + [0.5] * 6)
    assert (from_nothing.before, from_nothing.ratio) == (0.0, None)


def test_far_outliers_are_no_change() -> None:
    random = np.random.default_rng(5)
    tailed = [float(20 * np.exp(0.05 * one)) for one in random.standard_t(2, 40)]
    assert change_points(tailed) == ()


def test_a_long_series_is_bounded_in_time() -> None:
    found = change_points(series((20.0, 400), (22.0, 300), (20.0, 300)))
    assert places(found) == [pytest.approx(400, abs=2), pytest.approx(700, abs=2)]
    assert found[0].ratio == pytest.approx(1.1, abs=0.01)
