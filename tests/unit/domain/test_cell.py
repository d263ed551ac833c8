import pytest

from plimsoll.domain.campaign.cell import AttemptKey, Cell, load_slug


@pytest.mark.parametrize(("load", "slug"), [(40_000, "040k"), (120_000, "120k"), (1_500, "01500"), (200, "00200")])
def test_loads_have_slugs(load: int, slug: str) -> None:
    assert load_slug(load) == slug


def test_a_cell_has_a_stable_id() -> None:
    assert Cell(variant="g1", load_ops_s=40_000, repeat=3).id == "g1-040k-r3"


def test_attempt_keys_survive_their_text_form() -> None:
    key = AttemptKey(campaign_id="demo-20260131t120000", cell_id="g1-040k-r3", attempt=2)
    assert AttemptKey.parse(str(key)) == key


@pytest.mark.parametrize(
    "text", ["../x/1", "demo/../1", "demo/g1-040k-r1/0", "demo/G1/1", "demo/g1", "demo\n/g1/1", "demo/g1\n/1"]
)
def test_keys_that_could_leave_their_folder_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        AttemptKey.parse(text)
