import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.strangers import STRANGER

from plimsoll.adapters.providers.local import folders
from plimsoll.adapters.providers.local.folders import exclusive
from plimsoll.domain.text.errors import ProviderError


def test_the_folder_is_there_while_it_is_held_and_gone_after(tmp_path: Path) -> None:
    with exclusive(tmp_path / "claims"):
        assert (tmp_path / "claims").is_dir()
    assert not (tmp_path / "claims").exists()


def test_a_folder_with_something_in_it_stays(tmp_path: Path) -> None:
    with exclusive(tmp_path / "claims"):
        (tmp_path / "claims" / "127.20.3").touch()
    assert (tmp_path / "claims" / "127.20.3").exists()


def test_who_can_not_have_it_gives_up_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "PATIENCE_S", 0.03)
    with (
        exclusive(tmp_path / "claims"),
        pytest.raises(ProviderError, match="another process has held it"),
        exclusive(tmp_path / "claims"),
    ):
        pass


def make_pipe(place: Path) -> None:
    os.mkfifo(place)


def make_link(place: Path) -> None:
    (place.parent / "elsewhere").mkdir()
    place.symlink_to(place.parent / "elsewhere")


def make_open(place: Path) -> None:
    place.mkdir()
    place.chmod(0o777)


def make_foreign(place: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to another user")
    place.mkdir()
    os.chown(place, STRANGER, STRANGER)


@pytest.mark.parametrize("make", [make_pipe, make_link, make_open, make_foreign])
def test_what_another_user_has_put_there_is_refused_at_once(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "claims")
    with pytest.raises(ProviderError, match="set TMPDIR to a folder of your own"), exclusive(tmp_path / "claims"):
        pass


def test_of_many_one_at_a_time_is_inside(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []
    pause = threading.Event()

    def enter() -> None:
        for _ in range(5):
            with exclusive(tmp_path / "claims"):
                inside.append(1)
                most.append(len(inside))
                pause.wait(0.001)  # lets another thread in
                inside.pop()

    threads = [threading.Thread(target=enter) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 15
