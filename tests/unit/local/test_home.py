"""The directory a stack lives in."""

import os
import re
import stat
from base64 import urlsafe_b64decode
from pathlib import Path

import pytest

from plimsoll.domain.hosts.owner import INSTALLATION
from plimsoll_airflow.local.home import SOCKET_NAME, SOCKET_PATH_LIMIT, Home, StackError


def new_home(path: Path) -> Home:
    home = Home(path / "airflow")
    home.create()
    return home


def test_secrets_are_made_once_and_kept_private(tmp_path: Path) -> None:
    home = new_home(tmp_path)
    assert len(urlsafe_b64decode(home.secrets.fernet_key)) == 32
    assert (home.secrets, home.password_of("ada")) == (Home(home.path).secrets, Home(home.path).password_of("ada"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in (home.keys, home.passwords)} == {0o600}
    assert sorted(path.name for path in home.path.glob("*.json")) == ["keys.json", "passwords.json"]


def test_no_two_homes_share_a_secret(tmp_path: Path) -> None:
    one, other = (new_home(tmp_path / name) for name in ("one", "other"))
    assert not set(vars(one.secrets).values()) & set(vars(other.secrets).values())
    assert one.password_of("admin") != other.password_of("admin")


def test_each_user_has_a_password_and_keeps_it_when_another_comes(tmp_path: Path) -> None:
    home = new_home(tmp_path)
    ada = home.password_of("ada")
    assert home.password_of("bob") != ada
    assert home.password_of("ada") == ada


def test_the_airflows_id_is_made_once_and_is_another_elsewhere(tmp_path: Path) -> None:
    one, other = new_home(tmp_path / "one"), new_home(tmp_path / "other")
    assert one.installation == Home(one.path).installation != other.installation
    assert re.fullmatch(INSTALLATION, one.installation)


def test_secrets_do_not_show_in_their_repr(tmp_path: Path) -> None:
    secrets = new_home(tmp_path).secrets
    assert not [value for value in vars(secrets).values() if value in f"{secrets!r} {secrets}"]


def test_nobody_else_may_look_into_a_home(tmp_path: Path) -> None:
    home = new_home(tmp_path)
    home.path.chmod(0o755)
    home.create()
    assert stat.S_IMODE(home.path.stat().st_mode) == 0o700


def test_the_socket_lies_in_the_home_while_its_path_is_short_enough() -> None:
    inside = Home(Path("/h")).socket_dir
    assert inside.is_relative_to("/h")
    room = SOCKET_PATH_LIMIT - len(os.fsencode(inside / SOCKET_NAME))
    assert Home(Path("/h" + room * "x")).socket_dir.is_relative_to("/h" + room * "x")
    assert not Home(Path("/h" + (room + 1) * "x")).socket_dir.is_relative_to("/h")


def test_the_limit_of_the_socket_counts_bytes_not_letters() -> None:
    home = Home(Path("/" + 40 * "ü"))
    assert len(os.fsencode(home.socket_dir / SOCKET_NAME)) <= SOCKET_PATH_LIMIT


def test_two_long_homes_have_two_sockets() -> None:
    one, other = (Home(Path("/" + 200 * letter)).socket_dir for letter in "ab")
    assert one != other


@pytest.mark.parametrize("text", ['{"admin": "mine",}', "[]", '{"admin": 5}', '{"admin": ""}', '"admin"'])
def test_a_slip_in_the_file_of_passwords_is_told_with_the_file_and_the_mend(tmp_path: Path, text: str) -> None:
    home = new_home(tmp_path)
    home.passwords.write_text(text)
    with pytest.raises(StackError) as refused:
        home.password_of("admin")
    assert (refused.value.where, home.passwords.read_text()) == (str(home.passwords), text)
    assert '{"admin": "…"}' in refused.value.mend
