"""Where shipped files are, and where what is made goes, in a checkout and in an installation without one."""

from pathlib import Path

import pytest

from plimsoll import places
from plimsoll.domain.text.errors import NotFound
from plimsoll.settings import Settings

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Put the package where no checkout is."""
    monkeypatch.setattr(places, "__file__", str(tmp_path / "lib" / "site-packages" / "plimsoll" / "places.py"))


def test_in_a_checkout_shipped_files_are_those_that_people_edit() -> None:
    found = {name: places.shipped(name) for name in ("campaigns", "stress", "nodes")}
    assert found == {name: CHECKOUT / "include" / name for name in found}


def test_a_folder_that_is_not_there_is_said_with_how_to_mend_it() -> None:
    with pytest.raises(NotFound, match=r"incomplete\n.*install its wheel again"):
        places.shipped("nothing")


def test_defaults_of_a_checkout_are_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PLIMSOLL_STORE", "PLIMSOLL_WORK", "PLIMSOLL_CAMPAIGNS"):
        monkeypatch.delenv(name, raising=False)
    settings = Settings()
    assert (settings.store, settings.work) == (
        str(CHECKOUT / ".plimsoll" / "store"),
        CHECKOUT / ".plimsoll" / "clusters",
    )
    assert settings.campaigns == CHECKOUT / "include" / "campaigns"


@pytest.mark.usefixtures("installed")
def test_nothing_is_made_beside_an_installed_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert places.own_folder() == tmp_path / "data" / "plimsoll"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert places.own_folder() == tmp_path / ".local" / "share" / "plimsoll"
