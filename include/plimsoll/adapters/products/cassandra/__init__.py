"""Apache Cassandra as a product under test, and the check beforehand that a definition's nodes can start.

A build of one's own is the archive that a variant names, `apache-cassandra-…-bin.tar.gz` as `ant artifacts` makes it.
The release line still decides settings and flags, so that builds and releases differ in their code alone.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from plimsoll.adapters.artefacts.java_programs import install
from plimsoll.adapters.products.cassandra.acting import ACTIONS, act
from plimsoll.adapters.products.cassandra.command import TLP_2020, jvm_arguments
from plimsoll.adapters.products.cassandra.inquiry import bytes_on_disk, drop, inspect, settle_command
from plimsoll.adapters.products.cassandra.node import JAR, PORTS, RESERVED, TOKENS, Blueprint, start
from plimsoll.adapters.products.cassandra.node_files import NODE, CassandraLog, current_process, declared
from plimsoll.adapters.products.cassandra.release import PRODUCT, RELEASES, release_of
from plimsoll.adapters.products.nodes.jvm_flags import JarProduct, jdk_major
from plimsoll.adapters.products.nodes.node_process import refused_settings, shown
from plimsoll.adapters.products.nodes.node_state import Patience, down
from plimsoll.adapters.products.nodes.own_machine import WHOLE, leftover_work
from plimsoll.domain.attempt.load_summary import LeftoverWork
from plimsoll.domain.campaign.specs import ProductSpec, VariantSpec
from plimsoll.domain.hosts.fingerprint import NodeFingerprint
from plimsoll.domain.keys.action import ActionName
from plimsoll.domain.keys.process import Process
from plimsoll.domain.keys.variant import Archive, Download, JvmConfiguration, Variant
from plimsoll.domain.text.errors import ArtefactError, DeployError, Problem
from plimsoll.ports.artefacts import ArtefactSource, how_to_fetch
from plimsoll.ports.host import Host
from plimsoll.ports.product import ActionRequest, ActionStatus, Evidence

# Assumed processors of a node's host, which is not known here. Only the size of a young generation depends on it.
_CPUS = 8

_MOST_TOKENS = 1536
"""The most tokens that a node may have: `MAX_NUM_TOKENS` in Cassandra's `DatabaseDescriptor`."""
_LIB = "lib"
"""The folder of the jars in a build's archive."""
_BUILT = re.compile(r"apache-cassandra-(.+)\.jar")


class Cassandra(JarProduct):
    """One JVM on each node."""

    name = PRODUCT
    label = "Cassandra"
    patience = timedelta(minutes=5)
    ports: Sequence[int] = PORTS
    evidence: Evidence = CassandraLog()
    settles = True
    measures_rows = True
    actions: Collection[ActionName] = ACTIONS

    def _settings_problems(
        self, where: str, settings: Mapping[str, JsonValue], variant: VariantSpec | None
    ) -> Iterator[Problem]:
        yield from refused_settings(where, settings, RESERVED)
        tokens = settings.get(TOKENS, 1)
        if not isinstance(tokens, int) or isinstance(tokens, bool) or not 1 <= tokens <= _MOST_TOKENS:
            mend = f"write a whole number from 1 to {_MOST_TOKENS}, such as `{TOKENS}: 16`"
            yield Problem(f"{where}.{TOKENS}", f"must be a number of tokens; found {shown(tokens)}", mend)

    def _jvm_problems(self, spec: VariantSpec, jvm: JvmConfiguration) -> Iterator[Problem]:
        where, release = spec.where, release_of(spec.version)
        if release is None:
            lines = ", ".join(f"{release.line}.x" for release in RELEASES)
            yield Problem(where, f"Cassandra {spec.version} is of no release line known here", f"known: {lines}")
        elif jdk_major(jvm) not in release.jdk_flags:
            majors = ", ".join(str(major) for major in sorted(release.jdk_flags))
            what = f"Cassandra {release.line} is not run on JDK {jdk_major(jvm)} here"
            yield Problem(f"{where}.jvm.jdk", what, f"use JDK {majors}")
        if jvm.flag_set == "tlp-2020" and jvm.collector not in TLP_2020:
            yield Problem(f"{where}.jvm.flag_set", f"tlp-2020 has no flags for {jvm.collector}", "use `shipped`")

    def _archive_problems(self, spec: VariantSpec) -> Iterator[Problem]:
        """Yield what is wrong with the content of a variant's archive, if that is here. Fetches nothing."""
        archive, where = spec.variant.archive, f"{spec.where}.archive"
        if archive is None or not self._artefacts.has_archive(archive):
            return
        try:
            folder = build_jars(self._artefacts, archive)
        except ArtefactError as error:
            yield Problem(where, error.headline, error.mend)
            return
        # By the name of Cassandra's own jar: what its nodes will report of themselves.
        release = _BUILT.sub(r"\1", min(path.name for path in folder.glob(JAR)))
        if release != spec.version:
            what = f"it holds Cassandra {release}, and the definition says {spec.version}"
            yield Problem(where, what, f'write `version: "{release}"` beside it, or name another archive')

    def _jvm_arguments(self, spec: VariantSpec, jvm: JvmConfiguration) -> Sequence[str]:
        release = release_of(spec.version)
        assert release is not None, "checked before"
        return jvm_arguments(release, jvm, _CPUS)

    def check(self, spec: ProductSpec) -> Sequence[Problem]:
        """Return all problems; those of archives that are not here yet come last. Fetches nothing."""
        missing = [
            Problem(
                f"{variant.where}.archive",
                f"Cassandra of variant {variant.variant.id} is not in the cache",
                how_to_fetch(spec.name),
            )
            for archive, variant in _builds(spec).items()
            if not self._artefacts.has_archive(archive)
        ]
        return [*super().check(spec), *missing]

    def downloads(self, spec: ProductSpec) -> Sequence[Download]:
        of_builds = [
            Download(
                name=f"Cassandra {variant.version} from the archive of variant {variant.variant.id}",
                size_bytes=None,
                is_there=self._artefacts.has_archive(archive),
            )
            for archive, variant in _builds(spec).items()
        ]
        return [*of_builds, *super().downloads(spec)]

    def prepare(self, spec: ProductSpec) -> None:
        for archive in _builds(spec):
            build_jars(self._artefacts, archive, thorough=True)
        super().prepare(spec)

    def deploy(self, spec: VariantSpec, nodes: Sequence[Host], load: Host, expires: timedelta) -> None:
        """Start the seed, then the other nodes as soon as they can reach it, and wait until clients can use all nodes.

        Nodes that were started before are waited for like new ones. A DeployError has the last log lines of a node that
        did not start.
        """
        blueprint = self._blueprint(spec, nodes, expires)
        patience = Patience(self._clock, self._clock.now() + (spec.start_within or self._patience))
        seed, others = nodes[0], nodes[1:]
        with ThreadPoolExecutor(len(nodes) + 1) as pool:
            # Software is copied to the other hosts while the seed starts. An error here is ignored, because the same
            # step is repeated below and raises it.
            brought: list[Future[Any]] = [pool.submit(install, node, blueprint.jdk, blueprint.jars) for node in others]
            start(seed, blueprint)
            brought += [pool.submit(self._tool.argv, host) for host in (load, *nodes)]
            patience.await_line([(seed, NODE)], blueprint.release.listening)
            wait(brought)
            list(pool.map(partial(start, blueprint=blueprint), others))
            patience.await_line([(node, NODE) for node in nodes], blueprint.release.ready)
            self._tool.probe(load, nodes, max(patience.until - self._clock.now(), WHOLE), PRODUCT)

    def processes(self, variant: Variant) -> Sequence[Process]:
        return [declared(variant.jvm)]

    def fingerprint(self, variant: Variant, nodes: Sequence[Host]) -> Sequence[NodeFingerprint]:
        return inspect(self._tool, nodes, variant.archive)

    def hides_leftover_work(self, spec: VariantSpec) -> bool:
        """Return True for releases before 4.0, which have no virtual tables."""
        release = release_of(spec.version)
        return release is not None and not release.reports_compactions

    def leftover_work(self, nodes: Sequence[Host], job_id: str) -> LeftoverWork | None:
        return leftover_work(nodes, job_id, partial(settle_command, self._tool))

    def bytes_on_disk(self, nodes: Sequence[Host], keyspace: str) -> Mapping[str, int]:
        return bytes_on_disk(self._tool, nodes, keyspace)

    def drop(self, nodes: Sequence[Host], keyspace: str) -> None:
        drop(self._tool, nodes[0], keyspace)

    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
        return [sentence for node in nodes if (sentence := down(node, current_process(node)))]

    def act(self, request: ActionRequest) -> ActionStatus:
        blueprint = self._blueprint(request.spec, request.nodes, request.expires)
        return act(self._tool, request, blueprint)

    def _blueprint(self, spec: VariantSpec, nodes: Sequence[Host], expires: timedelta) -> Blueprint:
        version, jvm, archive = spec.version, spec.variant.jvm, spec.variant.archive
        release = release_of(version)
        if release is None or jvm is None:
            what = f"Cassandra {version} is of no release line known here" if jvm else "Cassandra runs in a JVM"
            raise DeployError(what, where=f"variant {spec.variant.id}", mend="run `plimsoll plan`")
        return Blueprint(
            release=release,
            settings=spec.settings,
            jvm=jvm,
            jdk=self._artefacts.jdk(jvm.jdk, jvm.archive),
            jars=build_jars(self._artefacts, archive) if archive else self._artefacts.database(self.name, version),
            addresses=[node.info.address for node in nodes],
            replicas=spec.replicas,
            expires=expires,
        )


def build_jars(artefacts: ArtefactSource, archive: Archive, *, thorough: bool = False) -> Path:
    """Return the folder of a build's jars, fetched if necessary. Raises ArtefactError, also for another content."""
    return artefacts.unpacked(archive, f"{_LIB}/{JAR}", thorough=thorough) / _LIB


def _builds(spec: ProductSpec) -> Mapping[Archive, VariantSpec]:
    """Return each archive with the first variant that names it."""
    builds: dict[Archive, VariantSpec] = {}
    for variant in spec.variants:
        if variant.variant.archive is not None:
            builds.setdefault(variant.variant.archive, variant)
    return builds
