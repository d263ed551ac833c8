"""User data as cloud-init reads it, as far as the test cloud supports it: text → what a boot has to do. Pure.

Supported: `#cloud-config` with the keys below, `#!` scripts, and MIME multipart of those, gzipped or not. Whatever else
it holds is named in `unsupported`, and the boot fails: a test must not pass because something was ignored.
"""

import base64
import email
import gzip
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

DEFAULT_USER = "ec2-user"
_CARRIED_OUT = {"bootcmd", "runcmd", "write_files", "users", "ssh_authorized_keys", "ssh_keys", "disable_root"}
# What holds on these hosts anyway, whatever the user data says of it, or changes nothing that a test could see.
_OF_NO_EFFECT = {
    "ssh_deletekeys", "ssh_genkeytypes", "ssh_pwauth", "package_update", "package_upgrade", "timezone", "locale",
    "hostname", "preserve_hostname", "manage_etc_hosts", "final_message", "output", "disable_ec2_metadata",
}  # fmt: skip


def parse(user_data: bytes, key_pair: str | None) -> dict[str, Any]:
    """Return the plan of a boot, fit for JSON. `key_pair` is the public key that the instance was launched with."""
    plan = _empty()
    configs: list[Mapping[str, Any]] = []
    for part in _parts(user_data):
        text = part.decode(errors="replace")
        if text.startswith("#cloud-config"):
            configs.append(yaml.load(text, Loader=yaml.CSafeLoader) or {})
        elif text.startswith("#!"):
            plan["scripts"].append(base64.b64encode(part).decode())
        elif text.strip():
            plan["unsupported"].append(text.splitlines()[0][:80])
    config = {key: value for each in configs for key, value in each.items()}
    plan["unsupported"] += sorted(set(config) - _CARRIED_OUT - _OF_NO_EFFECT)
    return {**plan, **_configured(config, key_pair)}


def _empty() -> dict[str, Any]:
    return {"scripts": [], "unsupported": []}


def _configured(config: Mapping[str, Any], key_pair: str | None) -> dict[str, Any]:
    keys = [*config.get("ssh_authorized_keys", ()), *([key_pair] if key_pair else [])]
    users = [_user(user, keys) for user in config.get("users", ["default"])]
    return {
        "bootcmd": [_command(one) for one in config.get("bootcmd", ())],
        "runcmd": [_command(one) for one in config.get("runcmd", ())],
        "write_files": [_file(one) for one in config.get("write_files", ())],
        "users": users,
        "host_keys": _host_keys(config.get("ssh_keys", {})),
        "disable_root": bool(config.get("disable_root", True)),
        "root_keys": keys,
    }


def _parts(user_data: bytes) -> list[bytes]:
    if user_data[:2] == b"\x1f\x8b":
        user_data = gzip.decompress(user_data)
    if not user_data.lstrip().lower().startswith((b"content-type: multipart", b"mime-version")):
        return [user_data]
    message = email.message_from_bytes(user_data)
    return [bytes(part.get_payload(decode=True)) for part in message.walk() if not part.is_multipart()]


def _command(command: str | Sequence[Any]) -> str:
    """As cloud-init writes it into the script: a list is quoted, a text is shell."""
    return command if isinstance(command, str) else shlex.join(map(str, command))


def _file(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "path": entry["path"],
        "content": base64.b64encode(_content(entry)).decode(),
        "owner": entry.get("owner", "root:root"),
        "mode": _mode(entry.get("permissions", "0644")),
        "append": bool(entry.get("append", False)),
        "defer": bool(entry.get("defer", False)),
    }


def _mode(permissions: str | int) -> int:
    """Return an octal text; a number is one already: YAML reads 0644 without quotes as octal."""
    return permissions if isinstance(permissions, int) else int(permissions, 8)


def _content(entry: Mapping[str, Any]) -> bytes:
    content, encoding = entry.get("content", ""), entry.get("encoding", "text/plain")
    data: bytes = content if isinstance(content, bytes) else str(content).encode()
    for step in encoding.split("+")[::-1]:
        if step in ("b64", "base64"):
            data = base64.b64decode(data)
        elif step in ("gz", "gzip"):
            data = gzip.decompress(data)
    return data


def _user(user: str | Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    given: Mapping[str, Any] = {"name": user} if isinstance(user, str) else user
    if given["name"] == "default":
        given = {"name": DEFAULT_USER, "sudo": "ALL=(ALL) NOPASSWD:ALL", "ssh_authorized_keys": keys}
    rules = given.get("sudo") or []
    groups = given.get("groups", "")
    return {
        "name": given["name"],
        "keys": [str(key) for key in given.get("ssh_authorized_keys", ())],
        "shell": given.get("shell", "/bin/bash"),
        "groups": groups if isinstance(groups, str) else ",".join(groups),
        "sudo": [rules] if isinstance(rules, str) else list(rules),
    }


def _host_keys(given: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    kinds = [key.removesuffix("_private") for key in given if key.endswith("_private")]
    return {kind: (given[f"{kind}_private"], given.get(f"{kind}_public", "")) for kind in kinds}
