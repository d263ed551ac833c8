"""Check and write the settings of nodes.

Unsafe are settings by which a node would reach beyond its own folder and its own address, or run what others send it.
Names were read in the class `Config`, and the classes of its nested options, of every release that is locked.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import StringIO

from pydantic import JsonValue
from ruamel.yaml import YAML

from plimsoll.domain.text.errors import Problem

_LONGEST = 60

_UNSAFE: Sequence[tuple[re.Pattern[str], str]] = (
    (
        re.compile(r"(.+_)?(directory|directories|dir|path)|heartbeat_file"),
        "it has the node write outside of its folder",
    ),
    (re.compile(r"(allow_nodetool_)?archive_command"), "it has the node run commands"),
    (
        re.compile(r"(.+_)?(address|interface|interface_prefer_ipv6|port|port_ssl|port_enabled)|start_rpc"),
        "it changes where the node listens, or the address that it gives to others",
    ),
    (
        re.compile(r".*user_defined_functions.*|allow_(extra_)?insecure_udfs"),
        "it lets clients run code in the node, and CQL asks nobody for a password",
    ),
)


def refused_settings(where: str, settings: Mapping[str, JsonValue], reserved: Collection[str]) -> Iterator[Problem]:
    """Yield problems with settings that a definition can't set: those that Plimsoll writes itself, and unsafe ones."""
    own = {key: value for key, value in sorted(settings.items()) if key.partition(".")[0] in reserved}
    refused = [(key, "Plimsoll writes it for each node", value) for key, value in own.items()]
    refused += unsafe_settings({key: value for key, value in settings.items() if key not in own})
    for place, reason, value in refused:
        yield Problem(f"{where}.{place}", f"can't be set: {reason}; found {shown(value)}", "remove the line")


def unsafe_settings(settings: JsonValue, place: str = "") -> Iterator[tuple[str, str, JsonValue]]:
    """Yield the place, the reason and the value of each unsafe setting, at any depth:
    `audit_logging_options.audit_logs_dir`.

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


def shown(value: JsonValue) -> str:
    """Return the value as JSON, cut to a length that fits into a message."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def render(settings: JsonValue) -> str:
    """Return the settings as YAML."""
    stream = StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.dump(settings, stream)
    return stream.getvalue()
