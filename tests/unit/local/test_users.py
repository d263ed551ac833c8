"""Who may log in to the local stack."""

import pytest

from plimsoll_airflow.local.home import ADMIN, LocalUser, StackError, administrator, parse_users


def test_names_and_roles_are_read_and_the_first_admin_is_the_launchers() -> None:
    users = parse_users("vera:viewer, ada@example.com:admin,bob:admin")
    assert users == (LocalUser("vera", "viewer"), LocalUser("ada@example.com", "admin"), LocalUser("bob", "admin"))
    assert administrator(users).name == "ada@example.com"
    assert parse_users(str(ADMIN)) == (ADMIN,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no name"),
        ("ada", "role ''; allowed: viewer, user, op, admin"),
        ("ada:boss", "role 'boss'"),
        (":admin", "no name"),
        ("a b:admin", "no name"),
        ("ada:admin,ada:viewer", "ada is there twice"),
        ("vera:viewer", "nobody has the role admin"),
        ("ada:admin,", "no name"),
    ],
)
def test_what_is_wrong_is_said_with_an_example(text: str, message: str) -> None:
    with pytest.raises(StackError) as refused:
        parse_users(text)
    assert message in refused.value.what
    assert "ada:admin,bob:viewer" in refused.value.mend
