"""What is collected of a cluster that is not whole any more, or is collected by two."""

import os
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

import pytest
from tests.fakes.hosts import FolderHost
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import InstantLoadGenerator, InstantProduct, InstantProvider
from tests.support.stores.places import patch_place

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.attempt.result import Manifest
from plimsoll.domain.hosts.cluster import OBSERVED, ClusterId, HostInfo
from plimsoll.domain.text.errors import (
    CloudOutOfReach,
    HostError,
    HostsLost,
    LoadError,
    PlimsollError,
    ProviderError,
    SecretError,
    StoreError,
    Unreachable,
)
from plimsoll.ports.host import Host
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempt_state import failure_of, record_failure
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.collect import collect, distinct_names, files_of_processes
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.store import layout

CELL = "v1-001k-r1"


@pytest.fixture
def work(tmp_path: Path) -> AttemptContext:
    """An attempt whose load is complete, nothing collected yet."""
    installation = Installation(tmp_path)
    installation.open_campaign(instant_definition(variants=1, loads=1))
    work = begin(installation.toolkit, "campaign", CELL, "test")
    for phase in (actions.provision, actions.deploy, loading.start_load):
        phase(work)
    return work


@pytest.fixture
def dead(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of hosts that do not answer."""
    names: set[str] = set()
    asked = FolderHost.files

    def files(host: FolderHost, folder: PurePosixPath) -> tuple[PurePosixPath, ...]:
        if host.info.name in names:
            raise HostError("can't be reached: timed out", where=f"host {host.info.name}")
        return asked(host, folder)

    monkeypatch.setattr(FolderHost, "files", files)
    return names


@pytest.fixture
def looks(work: AttemptContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the attempt look at a machine of somebody else's, `theirs1`."""
    whole = work.provider.find(work.cluster_id)
    assert whole is not None
    theirs = HostInfo(name="theirs1", role=OBSERVED, address="10.0.0.1")
    cluster = whole.model_copy(update={"hosts": (*whole.hosts, theirs)})
    monkeypatch.setattr(work.provider, "find", lambda _: cluster)


def paths(manifest: Manifest) -> set[str]:
    return {entry.path for entry in manifest.files}


ODD = [b"gc-\xff.log", b"two\nlines.log", "grün.log".encode(), b"100%.log", b"\x1b[2J.log", 240 * b"\xe9"]


def test_files_of_any_name_are_kept_under_names_of_plain_characters(work: AttemptContext) -> None:
    cluster = work.provider.find(work.cluster_id)
    assert cluster is not None
    node = work.nodes(cluster)[0]
    [[log]] = files_of_processes(node, work.product.processes(work.variant)).values()
    for number, name in enumerate(ODD):
        Path(os.fsdecode(os.fsencode(log.parent) + b"/" + name)).write_text(str(number))
    manifest = collect(work)
    assert manifest.failure is None
    found = {path.rpartition("/")[2] for path in paths(manifest) if path.startswith("raw/node1/instant/")}
    assert {"gc-%FF.log", "two%0Alines.log", "gr%C3%BCn.log", "100%25.log", "%1B[2J.log"} <= found
    assert all(name.isascii() and name.isprintable() and len(name) <= 200 for name in found)
    assert sum("%E9" in name for name in found) == 1
    assert layout.MANIFEST.read(work.toolkit.store, work.key) == manifest


def test_files_of_the_same_name_have_names_of_their_own_within_each_process() -> None:
    files = {
        "": ["sampler/host.csv"],
        "data-node": ["a/gc.log", "b/gc.log~2", "b/gc.log", "c/gc.log"],
        "region-server": ["gc.log"],
    }
    named = distinct_names((process, [PurePosixPath(path) for path in paths]) for process, paths in files.items())
    assert {str(path): name for path, name in named} == {
        "sampler/host.csv": "host.csv",
        "a/gc.log": "data-node/gc.log",
        "b/gc.log~2": "data-node/gc.log~2",
        "b/gc.log": "data-node/gc.log~3",
        "c/gc.log": "data-node/gc.log~4",
        "gc.log": "region-server/gc.log",
    }


def test_an_error_about_a_file_of_any_name_is_stored(work: AttemptContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(host: FolderHost, path: PurePosixPath, destination: Path) -> NoReturn:
        raise HostError(f"can't use {path}/\udcff\x1b[2J", where=f"host {host.info.name}")

    monkeypatch.setattr(FolderHost, "fetch", fetch)
    assert "\\udcff\\x1b[2J" in (collect(work).failure or "")


def test_a_host_s_files_are_taken_up_to_a_size(work: AttemptContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.services.cell.collect._MOST_BYTES", 0)
    assert "not collected from load, from" in (collect(work).failure or "")


@pytest.mark.usefixtures("looks")
def test_what_is_lost_of_an_observed_machine_is_told_and_takes_nothing_from_the_attempt(
    work: AttemptContext, dead: set[str]
) -> None:
    dead.add("theirs1")
    manifest = collect(work)
    assert (manifest.failure, manifest.nodes_down) == (None, ())
    [told] = manifest.unseen
    assert told.startswith("nothing was collected from theirs1: ")


@pytest.mark.usefixtures("looks")
def test_a_key_that_is_gone_takes_what_an_observed_machine_tells_and_nothing_else(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = FolderHost.files

    def files(host: FolderHost, folder: PurePosixPath) -> tuple[PurePosixPath, ...]:
        if host.info.role == OBSERVED:
            raise SecretError("there is no connection of that name")
        return asked(host, folder)

    monkeypatch.setattr(FolderHost, "files", files)
    manifest = collect(work)
    assert manifest.failure is None
    assert manifest.unseen == ("nothing was collected from theirs1: there is no connection of that name",)


def test_where_only_the_load_host_is_ours_and_does_not_answer_that_is_kept(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = work.provider.find(work.cluster_id)
    assert whole is not None
    monkeypatch.setattr(work.provider, "find", lambda _: whole.model_copy(update={"hosts": whole.load_hosts}))
    silent = HostError("can't be reached", where="host load")
    monkeypatch.setattr("plimsoll.services.cell.collect.stop_all", lambda *_: {"load": silent})
    manifest = collect(work)
    assert manifest.failure == "nothing was collected from load: host load: can't be reached"


@pytest.mark.parametrize("answer", [None, HostsLost("node2 does not answer")])
def test_what_survivors_have_is_kept_and_the_attempt_is_invalid(
    work: AttemptContext, dead: set[str], monkeypatch: pytest.MonkeyPatch, answer: ProviderError | None
) -> None:
    def find(provider: InstantProvider, key: ClusterId) -> None:
        if answer is not None:
            raise answer

    dead.add("node2")
    monkeypatch.setattr(InstantProvider, "find", find)
    manifest = collect(work)
    assert {"raw/node1/instant/system.log", "raw/node3/instant/system.log", "raw/load/summary.json"} <= paths(manifest)
    assert not any("node2" in path for path in paths(manifest))
    assert "hosts of it were" in manifest.failure
    assert "nothing was collected from node2: host node2: can't be reached" in manifest.failure


def test_a_host_that_is_dead_in_a_whole_cluster_costs_its_own_files_only(work: AttemptContext, dead: set[str]) -> None:
    dead.add("node1")
    manifest = collect(work)
    assert "raw/node3/instant/system.log" in paths(manifest)
    assert manifest.failure.startswith("nothing was collected from node1")


@pytest.mark.parametrize("error", [HostError("can't be reached: timed out"), LoadError("its job can't be stopped")])
def test_a_load_host_that_does_not_answer_costs_its_own_files_only(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch, error: PlimsollError
) -> None:
    def stop(generator: InstantLoadGenerator, host: Host, job_id: str) -> NoReturn:
        raise error

    monkeypatch.setattr(InstantLoadGenerator, "stop", stop)
    manifest = collect(work)
    assert paths(manifest) == {f"raw/node{number}/instant/system.log" for number in (1, 2, 3)}
    assert manifest.failure.startswith("nothing was collected from load")


@pytest.mark.parametrize("error", [CloudOutOfReach("the network is down"), ProviderError("AWS refuses: slow down")])
def test_a_cloud_that_does_not_answer_costs_nothing_as_long_as_its_hosts_do(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch, error: ProviderError
) -> None:
    def find(provider: InstantProvider, key: ClusterId) -> NoReturn:
        raise error

    monkeypatch.setattr(InstantProvider, "find", find)
    manifest = collect(work)
    assert manifest.failure is None
    assert {path.split("/")[1] for path in paths(manifest)} == {"node1", "node2", "node3", "load"}


def test_a_host_that_falls_silent_meanwhile_is_not_asked_for_each_other_file(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[PurePosixPath] = []
    fetch = FolderHost.fetch

    def silent_from_the_second_on(host: FolderHost, path: PurePosixPath, destination: Path) -> None:
        if host.info.name == "load":
            asked.append(path)
            if len(asked) > 1:
                raise Unreachable("can't be reached: timed out", where="host load")
        fetch(host, path, destination)

    monkeypatch.setattr(FolderHost, "fetch", silent_from_the_second_on)
    manifest = collect(work)
    assert len(asked) == 2
    assert {path for path in paths(manifest) if "/load/" in path} == {f"raw/load/{asked[0].name}"}
    assert manifest.failure.startswith(f"not collected from load, from {asked[1].name} on: host load: can't be reached")


def test_the_first_reason_comes_first(work: AttemptContext, dead: set[str]) -> None:
    record_failure(work, "load: the cluster is gone")
    dead.add("node1")
    assert collect(work).failure.startswith("load: the cluster is gone; nothing was collected from node1")


@pytest.fixture
def never_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InstantProvider, "find", lambda *_: None)
    patch_place(monkeypatch, "cell.collect", "CLUSTER", read=lambda *_: None)


def test_a_cluster_that_nobody_knows_of_has_nothing(work: AttemptContext, never_there: None) -> None:
    manifest = collect(work)
    assert manifest.files == ()
    assert "the cluster was gone" in manifest.failure


def test_what_kept_a_cluster_from_being_there_is_the_only_reason(work: AttemptContext, never_there: None) -> None:
    record_failure(work, "provision: no room")
    assert collect(work).failure == "provision: no room"


def test_hosts_that_never_were_ready_are_not_asked(
    work: AttemptContext, dead: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    record_failure(work, "provision: hosts were not ready within 0:10:00: node1: can't be reached: timed out")
    patch_place(monkeypatch, "cell.collect", "CLUSTER", read=lambda *_: None)
    dead.add("node1")
    manifest = collect(work)
    assert (manifest.failure, manifest.files) == (failure_of(work.toolkit.store, work.key), ())


def test_of_two_who_collect_at_once_the_first_manifest_stays(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = collect(work)
    answers = iter([None])  # it was not there yet when the second began
    read = layout.MANIFEST.read
    patch_place(monkeypatch, "cell.collect", "MANIFEST", read=lambda *asked: next(answers, read(*asked)))
    assert collect(work) == first
    assert layout.MANIFEST.read(work.toolkit.store, work.key) == first


@pytest.mark.parametrize(
    ("part", "method", "error"),
    [
        (ObjectStore, "upload", StoreError("the store is away")),
        (InstantProduct, "down", SecretError("there is no such connection")),
        (FolderHost, "files", SecretError("there is no such connection")),
        (FolderHost, "fetch", SecretError("there is no such connection")),
        (InstantLoadGenerator, "stop", SecretError("there is no such connection")),
    ],
)
def test_what_says_nothing_about_the_hosts_fails_it_and_collected_again_everything_is_there(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch, part: type[Any], method: str, error: PlimsollError
) -> None:
    real, left = getattr(part, method), iter([None, error])

    def failing_at_the_second_call(*asked: Any) -> Any:
        if (found := next(left, None)) is not None:
            raise found
        return real(*asked)

    # The one load is stopped by one call.
    if method == "stop":
        next(left)
    monkeypatch.setattr(part, method, failing_at_the_second_call)

    with pytest.raises(type(error)):
        collect(work)
    assert layout.MANIFEST.read(work.toolkit.store, work.key) is None

    manifest = collect(work)
    assert manifest.failure is None
    hosts = {entry.path.split("/")[1] for entry in manifest.files}
    assert hosts == {"node1", "node2", "node3", "load"}
