"""Errors of the local stack."""

from plimsoll.domain.errors import PlimsollError


class StackError(PlimsollError):
    """The stack could not be started, queried or stopped. `what` contains its status and the last log lines."""


class StackBusy(StackError):
    """Another launcher is working on this home."""


class ApiError(StackError):
    """The REST API answered with an error, or not at all."""

    def __init__(self, what: str, *, where: str = "", mend: str = "", status: int | None = None) -> None:
        super().__init__(what, where=where, mend=mend)
        self.status = status
