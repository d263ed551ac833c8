"""The users of the local stack: names and roles of Airflow's SimpleAuthManager, from `PLIMSOLL_USERS`."""

import re
from dataclasses import dataclass

from plimsoll_airflow.local.errors import StackError

ROLES = ("viewer", "user", "op", "admin")
"""The roles of SimpleAuthManager, from the least right to the most."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*\Z")
_MEND = "write PLIMSOLL_USERS as `name:role,name:role`, for example `ada:admin,bob:viewer`"


@dataclass(frozen=True)
class LocalUser:
    """A user who may log in. The password is in the home's file of passwords."""

    name: str
    role: str

    def __str__(self) -> str:
        return f"{self.name}:{self.role}"


ADMIN = LocalUser("admin", "admin")


def parse_users(text: str) -> tuple[LocalUser, ...]:
    """Parse users in the form `name:role,name:role`.

    Raises StackError for a malformed or repeated user, and where there is no admin.
    """
    users = tuple(_user(part.strip()) for part in text.split(","))
    names = [user.name for user in users]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise StackError(f"{', '.join(repeated)} is there twice", where="PLIMSOLL_USERS", mend=_MEND)
    if not any(user.role == "admin" for user in users):
        raise StackError("nobody has the role admin, which starting Airflow takes", where="PLIMSOLL_USERS", mend=_MEND)
    return users


def administrator(users: tuple[LocalUser, ...]) -> LocalUser:
    """Return the user that the launcher itself logs in as: the first admin."""
    return next(user for user in users if user.role == "admin")


def _user(text: str) -> LocalUser:
    name, _, role = text.partition(":")
    if not _NAME.match(name):
        raise StackError(f"{text!r} has no name of letters, digits, . _ @ -", where="PLIMSOLL_USERS", mend=_MEND)
    if role not in ROLES:
        allowed = ", ".join(ROLES)
        raise StackError(f"{name} has the role {role!r}; allowed: {allowed}", where="PLIMSOLL_USERS", mend=_MEND)
    return LocalUser(name, role)
