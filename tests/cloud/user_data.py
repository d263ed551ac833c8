"""User data as cloud-init reads it, as far as Plimsoll writes it: text → what a boot has to do. Pure.

What else it holds is named in `unsupported`, and the boot fails: no test passes because something was ignored.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

_CARRIED_OUT = {"runcmd", "write_files", "users", "ssh_keys"}
# What holds on these hosts anyway, whatever the user data says of it.
_OF_NO_EFFECT = {
    "ssh_deletekeys", "ssh_genkeytypes", "ssh_pwauth", "disable_root", "package_update", "package_upgrade",
}  # fmt: skip


def parse(user_data: bytes) -> dict[str, Any]:
    """Return the plan of a boot, fit for JSON."""
    text = user_data.decode()
    is_config = text.startswith("#cloud-config")
    config: Mapping[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader) if is_config else {}
    unread = [] if is_config or not text else [text[:80]]
    return {
        "unsupported": unread + sorted(set(config) - _CARRIED_OUT - _OF_NO_EFFECT),
        "runcmd": [_command(one) for one in config.get("runcmd", ())],
        "write_files": list(config.get("write_files", ())),
        "users": list(config.get("users", ())),
        "host_keys": dict(config.get("ssh_keys", {})),
    }


def _command(command: str | Sequence[Any]) -> str:
    """Return the command as cloud-init writes it into the script: a list is quoted, a text is shell."""
    return command if isinstance(command, str) else shlex.join(map(str, command))
