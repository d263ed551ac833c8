"""What all products have of a node's process: the paths of its files, the times in its logs, and what these say,
even where nobody reads them.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from io import StringIO
from pathlib import PurePosixPath

from pydantic import JsonValue
from ruamel.yaml import YAML

from plimsoll.adapters.hosts.base import console_path
from plimsoll.domain.keys.process import LogLine
from plimsoll.domain.text.errors import Problem
from plimsoll.ports.product import Evidence


@dataclass(frozen=True)
class LogWords:
    """Patterns of a product's own in its logs, beside those of a JVM and of the system.

    `noise`: beginnings of lines that explain nothing; `repeats`: the beginning of a line that only repeats an earlier
    error; `remedies`: errors, each with advice, of which the first match counts.
    """

    noise: Sequence[str] = ()
    repeats: str = ""
    remedies: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class NodeProcess:
    """The product's name, which is the id of the process's job too, and the paths of its logs below a host's root.

    The first log is the one in which the process says that it is up.
    """

    name: str
    logs: Callable[[PurePosixPath], Sequence[PurePosixPath]]
    words: LogWords = LogWords()


@dataclass(frozen=True)
class ProcessFiles:
    """The paths of one process, `name`, below its host's root."""

    root: PurePosixPath
    name: str

    @property
    def home(self) -> PurePosixPath:
        """Return the folder of the process, and its working directory. Heap dumps are written here."""
        return self.root / self.name

    @property
    def data(self) -> PurePosixPath:
        """Return the folder of everything that the process stores. No second one may use it."""
        return self.home / "data"

    @property
    def configuration(self) -> PurePosixPath:
        """Return the folder of the files that are written for the process."""
        return self.home / "conf"

    @property
    def logs(self) -> PurePosixPath:
        """Return the folder of the process's own logs, and of what else is worth keeping."""
        return self.home / "logs"

    @property
    def console(self) -> PurePosixPath:
        """Return the output of the process. Only here does a JVM say why it does not start."""
        return console_path(self.root, self.name)


def time_of(line: re.Match[str], zone: tzinfo) -> datetime:
    """Parse the group `time` of a matched line."""
    return datetime.strptime(line["time"], "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=zone)


class TimedLog(Evidence):
    """A base for logs of a known form. `pattern`: how their lines begin, with a group `time`."""

    pattern: re.Pattern[str]

    def lines(self, process: str, text: str, zone: tzinfo) -> Sequence[LogLine]:
        matches = filter(None, map(self.pattern.match, text.splitlines()))
        return tuple(LogLine(time_of(match, zone), match[0]) for match in matches)


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
    for key, reason, value in refused:
        yield Problem(f"{where}.{key}", f"can't be set: {reason}; found {shown(value)}", "remove the line")


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
    stream = StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.dump(settings, stream)
    return stream.getvalue()
