"""How a command is given secrets: by standard input, to a program that puts them into the command's environment and
into files in memory.
"""

import json
from collections.abc import Sequence
from inspect import getsource

from plimsoll.adapters.hosts.base import PYTHON
from plimsoll.adapters.hosts.onhost import giving
from plimsoll.ports.secrets import CommandSecrets


def given(argv: Sequence[str], secrets: CommandSecrets) -> tuple[Sequence[str], str]:
    """Return the command with which a host starts that one, and its standard input; as it is where nothing is given."""
    if not (secrets.env or secrets.files):
        return argv, ""
    stdin = json.dumps({"env": dict(secrets.env), "files": dict(secrets.files)})
    return (*PYTHON, "-c", getsource(giving), *argv), stdin
