import pytest

from plimsoll.quality.attempt_tables import same_precision


@pytest.mark.parametrize(
    ("running", "requested", "found"),
    [
        ("11.0.13+8", "11.0.13", "11.0.13"),
        ("11.0.13+8-LTS", "11.0.13", "11.0.13"),
        ("11.0.13+8", "11", "11"),
        ("17.0.9+9", "11.0.13", "17.0.9"),
        ("1.8.0_252-b09", "8.0.252", "8.0.252"),
        ("1.8.0_252-b09", "8", "8"),
        ("14-ea+33", "14", "14"),
        ("16+36", "16.0.1", "16"),
    ],
)
def test_versions_are_compared_in_the_precision_asked_for(running: str, requested: str, found: str) -> None:
    assert same_precision(running, requested) == found
