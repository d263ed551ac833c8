"""Install and start one node on its host."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from pydantic import JsonValue

from plimsoll.adapters.products.nodes.machines import by_machine, own_loopback
from plimsoll.adapters.products.nodes.settings import render
from plimsoll.adapters.products.scylladb.node_files import COMMAND, IO_PROPERTIES, PRODUCT, SETTINGS, NodeFiles
from plimsoll.adapters.products.scylladb.settings import (
    DEVELOPER_MODE,
    NodePlace,
    command_options,
    node_settings,
    shard_options,
    shipped,
)
from plimsoll.ports.host import Host, Job

PROGRAM = "libexec/scylla"
"""The program in the archive. It is started by the archive's own loader with the archive's own libraries, as its
install script starts programs too: nothing is installed outside of Plimsoll's folder, and root is not needed."""
_IO_TUNE = timedelta(minutes=15)


@dataclass(frozen=True)
class Blueprint:
    """The properties that all nodes of a cluster have in common. `home`: the unpacked archive on this machine."""

    home: Path
    settings: Mapping[str, JsonValue]
    nodes: Sequence[Host]
    expires: timedelta

    def place(self, host: Host) -> NodePlace:
        """Return the place of the node on that host. Installs the archive there, if it is not there yet."""
        return NodePlace(
            files=NodeFiles(host.root),
            installation=host.install(self.home),
            addresses=[node.info.address for node in self.nodes],
            address=host.info.address,
            own_loopback=own_loopback(host.info.address),
            facts=host.facts(),
            sharing=next(len(hosts) for hosts in by_machine(self.nodes).values() if host in hosts),
        )


def start(host: Host, blueprint: Blueprint) -> None:
    """Write the node's configuration and start the node. A node that was started before is left as it is."""
    place = blueprint.place(host)
    files, settings = place.files, node_settings((shipped(blueprint.home), blueprint.settings), place)
    host.write(files.kept / SETTINGS, render(settings))
    given = command_options(blueprint.settings).io_properties
    is_measured = not given and not settings[DEVELOPER_MODE]
    if given:
        host.write(files.kept / IO_PROPERTIES, render(given))
    elif is_measured:
        _measure_disk(host, place)
    argv = tuple(_command(place, blueprint.settings, has_io_properties=bool(given) or is_measured))
    host.write(files.kept / COMMAND, "\n".join([*argv, ""]))
    environment = {"GNUTLS_SYSTEM_PRIORITY_FILE": str(place.installation / "libreloc" / "gnutls.config")}
    host.start(Job(id=PRODUCT, argv=argv, expires=blueprint.expires, env=environment, cwd=files.home, owns=files.data))


def _command(place: NodePlace, settings: Mapping[str, JsonValue], *, has_io_properties: bool) -> Iterator[str]:
    yield from _program(place, PROGRAM)
    yield from ("--options-file", str(place.files.kept / SETTINGS))
    yield from ("--log-to-stdout", "1", "--log-to-syslog", "0", "--default-log-level", "info")
    yield from shard_options(settings, place)
    if has_io_properties:
        yield from ("--io-properties-file", str(place.files.kept / IO_PROPERTIES))


def _program(place: NodePlace, program: str) -> tuple[str, ...]:
    libraries = place.installation / "libreloc"
    return str(libraries / "ld.so"), "--library-path", str(libraries), str(place.installation / program)


def _measure_disk(host: Host, place: NodePlace) -> None:
    """Measure what the disk can do, as ScyllaDB's setup does it once; the measured file is kept with the attempt."""
    files = place.files
    if files.kept / IO_PROPERTIES not in host.files(files.kept):
        host.run(("mkdir", "-p", str(files.data)), timeout=timedelta(minutes=1))
        measured = ("--evaluation-directory", str(files.data), "--properties-file", str(files.kept / IO_PROPERTIES))
        host.run((*_program(place, "libexec/iotune"), *measured), timeout=_IO_TUNE)
