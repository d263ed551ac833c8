"""The answers of programs that ask nodes for their state: JSON on the last line of their output. Pure."""

import json
from typing import Any

from plimsoll.domain.errors import DeployError
from plimsoll.ports.host import CommandResult


def answer_of(result: CommandResult, question: str, *, where: str, mend: str) -> Any:
    """Return the answer to the question, which is the program's command. Raises DeployError where there is none."""
    try:
        return json.loads(result.stdout.strip().rpartition("\n")[2])
    except ValueError as error:
        what = f"`{question}` gave no answer (exit code {result.exit_code}): {result.stderr.strip()[-2000:]}"
        raise DeployError(what, where=where, mend=mend) from error
