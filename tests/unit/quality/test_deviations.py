from typing import Any

from tests.support.campaigns import sound_attempt as sound

from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.hosts.cluster import PROCESSORS
from plimsoll.domain.hosts.fingerprint import ReportedNode
from plimsoll.quality.deviations import deviations


def cell(variant: str = "g1", repeat: int = 1) -> Cell:
    return Cell(variant=variant, load_ops_s=1000, repeat=repeat)


def three(odd: Any) -> dict[Cell, Any]:
    return {cell(repeat=1): sound.fingerprint(), cell(repeat=2): sound.fingerprint(), cell(repeat=3): odd}


def test_cells_alike_have_no_deviation() -> None:
    assert deviations(three(sound.fingerprint())) == ()
    assert deviations({}) == ()


def test_variants_may_differ_from_each_other() -> None:
    other = sound.node("node1", collector="ZGC", flags={"UseZGC": "true"})
    prints = {cell("g1"): sound.fingerprint(sound.node()), cell("zgc"): sound.fingerprint(other)}
    assert deviations(prints) == ()


def test_addresses_folders_arguments_and_offsets_may_differ() -> None:
    node = sound.node("elsewhere", arguments=("-Dport=7001",), flags={"MaxHeapSize": str(sound.GIB // 2), "A": "/x"})
    moved = node.model_copy(update={"address": "127.0.0.9", "clock_offset_ms": 3.0})
    host = sound.HOST.model_copy(update={"provider": {"zone": "b"}, "memory_bytes": sound.HOST.memory_bytes - 4096})
    assert deviations(three(sound.fingerprint(moved.model_copy(update={"facts": host}), load_host=host))) == ()


def test_the_odd_cell_is_named_with_what_is_usual() -> None:
    odd = sound.fingerprint(sound.node("node1"), sound.node("node2", version="11.0.14+1"), sound.node("node3"))
    (found,) = deviations(three(odd))
    assert (found.variant, found.fact, found.values) == ("g1", "JVM", 2)
    assert found.usual == "OpenJDK 64-Bit Server VM 11.0.13+8, Eclipse Adoptium"
    assert found.cells == ("g1-001k-r3",)
    assert found.chosen


def test_nodes_with_processors_of_their_own_are_others_than_those_that_share() -> None:
    own = sound.HOST.model_copy(update={"provider": {PROCESSORS: "0.4"}})
    bound = (sound.node(name).model_copy(update={"facts": own}) for name in ("node1", "node2", "node3"))
    (found,) = deviations(three(sound.fingerprint(*bound)))
    assert (found.fact, found.cells) == ("own processors", ("g1-001k-r3",))


def test_what_somebody_elses_machines_are_is_nobodys_choice_here() -> None:
    odd = sound.node("node1").model_copy(update={"facts": sound.HOST.model_copy(update={"kernel": "7"})})
    told = ReportedNode(address="db:5432", data_centre="", rack="", release_version="15.3")
    prints = [sound.fingerprint(), sound.fingerprint(odd)]
    theirs = {cell(repeat=n): one.model_copy(update={"reported_nodes": (told,)}) for n, one in enumerate(prints, 1)}
    assert deviations(theirs) == ()


def test_a_flag_that_one_jvm_does_not_report_is_a_deviation() -> None:
    flags = {"MaxHeapSize": str(sound.GIB // 2), "UseNUMA": "true"}
    (found,) = deviations(three(sound.fingerprint(*(sound.node(f"node{n}", flags=flags) for n in (1, 2, 3)))))
    assert (found.fact, found.usual, found.cells) == ("flag UseNUMA", "(not reported)", ("g1-001k-r3",))


def test_the_load_host_counts_too_and_processors_are_nobodys_choice() -> None:
    host = sound.HOST.model_copy(update={"cpu_model": "another", "kernel": "7"})
    found = {one.fact: one.chosen for one in deviations(three(sound.fingerprint(load_host=host)))}
    assert found == {"load host: CPU": False, "load host: kernel": True}


def with_shared_huge_pages(chosen: str) -> Any:
    host = sound.HOST.model_copy(update={"shared_huge_pages": chosen})
    node = sound.node("node1").model_copy(update={"facts": host})
    return sound.fingerprint(node, load_host=host)


def test_huge_pages_of_shared_memory_are_compared() -> None:
    alike, never = with_shared_huge_pages("advise"), with_shared_huge_pages("never")
    found = deviations({cell(repeat=1): alike, cell(repeat=2): alike, cell(repeat=3): never})
    name = "transparent huge pages of shared memory"
    assert {one.fact: (one.usual, one.cells) for one in found} == {
        name: ("advise", ("g1-001k-r3",)),
        f"load host: {name}": ("advise", ("g1-001k-r3",)),
    }


def with_disk(disk: str, device: str) -> Any:
    host = sound.HOST.model_copy(update={"data_disk": disk, "data_disk_device": device})
    return sound.fingerprint(sound.node("node1").model_copy(update={"facts": host}))


def test_another_data_disk_is_a_deviation_and_another_device_is_none() -> None:
    own = "Amazon EC2 NVMe Instance Storage, 300 GB"
    alike, renamed = with_disk(own, "/dev/nvme1n1"), with_disk(own, "/dev/nvme2n1")
    system = with_disk("Amazon Elastic Block Store, 30 GB", "/dev/nvme0n1p1")
    found = deviations({cell(repeat=1): alike, cell(repeat=2): renamed, cell(repeat=3): system})
    assert [(one.fact, one.usual, one.cells, one.chosen) for one in found] == [
        ("data disk", own, ("g1-001k-r3",), False)
    ]


def test_another_load_generator_is_a_deviation() -> None:
    (found,) = deviations(three(sound.fingerprint(load_generator="plimsoll-stress 0.2.0")))
    assert (found.fact, found.usual) == ("load generator", "plimsoll-stress 0.1.0")
