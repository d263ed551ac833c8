"""Find settings by which a node would reach beyond its own folder and its own address, or run what others send it.

Names were read in the class `Config`, and the classes of its nested options, of every release that is locked.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

_UNSAFE: Sequence[tuple[re.Pattern[str], str]] = (
    (
        re.compile(r"(.+_)?(directory|directories|dir|path)|heartbeat_file"),
        "it has the node write outside of its folder",
    ),
    (re.compile(r"(allow_nodetool_)?archive_command"), "it has the node run commands"),
    (
        re.compile(r"(.+_)?(address|interface|interface_prefer_ipv6|port|port_ssl|port_enabled)|start_rpc"),
        "it changes where the node listens, or what it tells others to be its address",
    ),
    (
        re.compile(r".*user_defined_functions.*|allow_(extra_)?insecure_udfs"),
        "it lets clients run code in the node, and CQL asks nobody for a password",
    ),
)


def unsafe_settings(settings: JsonValue, place: str = "") -> Iterator[tuple[str, str, JsonValue]]:
    """The place, the reason and the value of each unsafe setting, at any depth: `audit_logging_options.audit_logs_dir`.

    Releases from 4.1 on take that place as one key, too.
    """
    if isinstance(settings, Mapping):
        for key, value in settings.items():
            name = key.rpartition(".")[2]
            reason = next((reason for pattern, reason in _UNSAFE if pattern.fullmatch(name)), None)
            if reason:
                yield f"{place}{key}", reason, value
            else:
                yield from unsafe_settings(value, f"{place}{key}.")
    elif isinstance(settings, list):
        for number, value in enumerate(settings):
            yield from unsafe_settings(value, f"{place.removesuffix('.')}[{number}].")
