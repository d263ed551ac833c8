"""Apache HBase as a product under test, with the HDFS and the ZooKeeper that it stands on, and the check beforehand
that the processes of a definition can start.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from itertools import count

from pydantic import JsonValue

from plimsoll.adapters.artefacts.java_programs import install
from plimsoll.adapters.products.hbase import inquiry
from plimsoll.adapters.products.hbase.events import Departure, HBaseLog
from plimsoll.adapters.products.hbase.node import FORMATTING, Blueprint, format_hdfs, jvm_arguments, start
from plimsoll.adapters.products.hbase.release import JDK_FLAGS, PRODUCT, RELEASES
from plimsoll.adapters.products.hbase.roles import LEAST_HEAP, MASTER, REGION_SERVER, ROLES, roles_of, size_of
from plimsoll.adapters.products.hbase.settings import OTHER_ROLES, PORTS, REPLICATION, SHIPPED, refused, used_heaps
from plimsoll.adapters.products.nodes.jvm_flags import JarProduct, jdk_major
from plimsoll.adapters.products.nodes.node_process import shown
from plimsoll.adapters.products.nodes.node_state import Obstacle, Patience, down, ended
from plimsoll.adapters.products.nodes.own_machine import leftover_work
from plimsoll.domain.attempt.load_summary import LeftoverWork
from plimsoll.domain.campaign.specs import VariantSpec
from plimsoll.domain.hosts.fingerprint import NodeFingerprint
from plimsoll.domain.keys.process import Process
from plimsoll.domain.keys.variant import JvmConfiguration, Variant
from plimsoll.domain.text.errors import DeployError, Problem
from plimsoll.domain.text.units import format_size
from plimsoll.domain.text.wording import meant_or_known, plural
from plimsoll.ports.host import Host
from plimsoll.ports.product import Evidence

_UNNOTICED = "the Master had not noticed it yet, so nobody served its regions"


class HBase(JarProduct):
    """Every host runs a DataNode and a region server, the first one also ZooKeeper, the NameNode and the Master."""

    name = PRODUCT
    label = "HBase"
    patience = timedelta(minutes=10)
    ports: Sequence[int] = PORTS
    evidence: Evidence = HBaseLog()
    settles = True

    def _settings_problems(
        self, where: str, settings: Mapping[str, JsonValue], variant: VariantSpec | None
    ) -> Iterator[Problem]:
        for key, reason in refused(settings):
            yield Problem(f"{where}.{key}", f"can't be set: {reason}; found {shown(settings[key])}", "remove the line")
        if variant is None:
            for heap in used_heaps(settings):
                what = f"is a setting of variants, as their JVMs are: heap.{heap}"
                yield Problem(f"{where}.heap.{heap}", what, "write it below `settings` of the variants")
            return
        copies, nodes = {**SHIPPED, **variant.settings}[REPLICATION], variant.nodes
        if not isinstance(copies, int) or not 1 <= copies <= nodes:
            what = f"HDFS can't keep {shown(copies)} copies of a block on {plural(nodes, 'node')}"
            mend = f"write {f'1 to {nodes}' if nodes > 1 else '1'}, or more `system.nodes`"
            yield Problem(f"{where}.{REPLICATION}", what, mend)

    def _jvm_problems(self, spec: VariantSpec, jvm: JvmConfiguration) -> Iterator[Problem]:
        where, version = spec.where, spec.version
        if version not in RELEASES:
            yield Problem(where, f"HBase {version} is not known here", f"known: {', '.join(sorted(RELEASES))}")
        if jdk_major(jvm) not in JDK_FLAGS:
            majors = ", ".join(str(major) for major in sorted(JDK_FLAGS))
            yield Problem(f"{where}.jvm.jdk", f"HBase is not run on JDK {jdk_major(jvm)} here", f"use JDK {majors}")
        if jvm.flag_set != "shipped":
            what = f"the flag set {jvm.flag_set} is one of Cassandra's"
            yield Problem(f"{where}.jvm.flag_set", what, "remove the key, and write the `flags`")
        # Heaps of other processes than the region server.
        for name, value in used_heaps(spec.variant.settings).items():
            key, heap = f"{where}.settings.heap.{name}", size_of(value)
            if name == REGION_SERVER.name:
                yield Problem(key, "is the variant's own", "write it as `heap` of the variant's `jvm`")
            elif name not in OTHER_ROLES:
                mend = meant_or_known(name, dict.fromkeys(OTHER_ROLES), lead="there is")
                yield Problem(key, "is no process whose heap is a setting", mend)
            elif heap is None or heap < LEAST_HEAP:
                what = f"a process can't start with that heap; found {shown(value)}"
                yield Problem(key, what, f"write a size of at least {format_size(LEAST_HEAP)}")

    def _jvm_arguments(self, spec: VariantSpec, jvm: JvmConfiguration) -> Sequence[str]:
        return jvm_arguments(jvm)

    def deploy(self, spec: VariantSpec, nodes: Sequence[Host], load: Host, expires: timedelta) -> None:
        """Format HDFS, start all processes, and wait until all tell that they are ready for clients.

        Processes that were started before are waited for like new ones. A DeployError has the state and the last log
        lines of the process that others wait for.
        """
        blueprint = self._blueprint(spec, nodes, expires)
        patience = Patience(self._clock, self._clock.now() + (spec.start_within or self._patience))
        with ThreadPoolExecutor(len(nodes) + 1) as pool:
            format_hdfs(nodes[0], blueprint)
            brought = [pool.submit(install, node, blueprint.jdk, blueprint.jars) for node in nodes]
            brought_tool = pool.submit(self._tool.argv, load)
            _await_format(nodes[0], patience)
            for future in brought:
                future.result()
            list(pool.map(partial(_start_all, blueprint=blueprint), count(), nodes))
            brought_tool.result()
        running = [(node, role.process) for number, node in enumerate(nodes) for role in roles_of(number)]
        patience.await_none(lambda: _obstacle(nodes), running)

    def processes(self, variant: Variant) -> Sequence[Process]:
        """Return the processes of hosts; all but two run on the first host only."""
        return [role.declared(variant.jvm, variant.settings) for role in ROLES] if variant.jvm else []

    def fingerprint(self, variant: Variant, nodes: Sequence[Host]) -> Sequence[NodeFingerprint]:
        return inquiry.fingerprints(self._tool, nodes)

    def hides_leftover_work(self, spec: VariantSpec) -> bool:
        """Return True, because region servers tell their flushes and compactions only on their own machine."""
        return True

    def leftover_work(self, nodes: Sequence[Host], job_id: str) -> LeftoverWork | None:
        return leftover_work(nodes, job_id, inquiry.settle_command)

    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
        """Return a sentence with the last log lines for each process that is not running.

        After that of a region server it says when it left the cluster and what became of its regions, by the Master.
        """
        stopped = [
            (node, role, sentence)
            for node in nodes
            for role in ROLES
            # These may be a part of the cluster, so a node's place among them does not tell which roles it has
            if not (role.only_on_first and node.status(role.name).state == "missing")
            and (sentence := down(node, role.process, several=True))
        ]
        lacks_server = any(role is REGION_SERVER for _, role, _ in stopped)
        is_asked = lacks_server and nodes[0].status(MASTER.name).state == "running"
        left = inquiry.told_departures(nodes[0]) if is_asked else ()
        return [
            "\n".join([sentence, *(_departed(node, left) if role is REGION_SERVER and is_asked else ())])
            for node, role, sentence in stopped
        ]

    def save(self, node: Host) -> None:
        inquiry.save_metrics(node)

    def _blueprint(self, spec: VariantSpec, nodes: Sequence[Host], expires: timedelta) -> Blueprint:
        jvm = spec.variant.jvm
        if jvm is None:
            raise DeployError("HBase runs in a JVM", where=f"variant {spec.variant.id}", mend="run `plimsoll plan`")
        return Blueprint(
            settings=spec.settings,
            jvm=jvm,
            jdk=self._artefacts.jdk(jvm.jdk, jvm.archive),
            jars=self._artefacts.database(PRODUCT, spec.version),
            nodes=nodes,
            expires=expires,
        )


def _departed(node: Host, left: Sequence[Departure]) -> Sequence[str]:
    """Tell what the Master knows of the end of that node's region server."""
    of_node = [str(departure) for departure in left if departure.host in (node.info.name, node.info.address)]
    return of_node or [_UNNOTICED]


def _await_format(first: Host, patience: Patience) -> None:
    """Return once HDFS is formatted. Raises DeployError when that fails or the time ends."""
    place = (first, FORMATTING)

    def obstacle() -> Obstacle | None:
        status = first.status(FORMATTING.name)
        if status.state == "exited" and status.exit_code != 0:
            raise ended(place, status, "before HDFS was formatted")
        return None if status.state == "exited" else Obstacle(place, "HDFS is being formatted")

    patience.await_none(obstacle, ())  # No process has to run on: this one is to end


def _start_all(number: int, node: Host, blueprint: Blueprint) -> None:
    """Start a host's processes, those first that others wait for."""
    for role in reversed(roles_of(number)):
        start(node, role, blueprint)


def _obstacle(nodes: Sequence[Host]) -> Obstacle | None:
    obstacle = inquiry.told_state(nodes).obstacle()
    return obstacle and Obstacle((nodes[0], obstacle[0].process), obstacle[1])
