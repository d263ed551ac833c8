from collections.abc import Sequence
from dataclasses import replace

from tests.support.campaigns.synthetic import demo_campaign

from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.analysis.campaign.host_facts import ABSENT
from plimsoll.domain.hosts.fingerprint import Fingerprint, NodeFingerprint, ReportedNode
from plimsoll.report.charts.theme import Figure
from plimsoll.report.page import page_html
from plimsoll.report.words.environment_facts import environment


def with_fingerprints(**further: Sequence[str]) -> Findings:
    """Return the demo with further JVM arguments on the nodes of a cell (its id, hyphens as underscores).

    `{node}` counts.
    """
    data = demo_campaign()
    attempts = tuple(
        replace(one, fingerprint=_longer(one.fingerprint, further.get(one.verdict.cell.id.replace("-", "_"), ())))
        for one in data.attempts
    )
    return analyse(replace(data, attempts=attempts))


def _longer(fingerprint: Fingerprint | None, arguments: Sequence[str]) -> Fingerprint | None:
    if fingerprint is None:
        return None
    nodes = tuple(
        _with_arguments(node, own)
        for number, node in enumerate(fingerprint.nodes, 1)
        for own in [[argument.replace("{node}", str(number)) for argument in arguments]]
    )
    return fingerprint.model_copy(update={"nodes": nodes})


def _with_arguments(node: NodeFingerprint, further: Sequence[str]) -> NodeFingerprint:
    (process,) = node.processes
    assert process.jvm is not None
    jvm = process.jvm.model_copy(update={"arguments": (*process.jvm.arguments, *further)})
    return node.model_copy(update={"processes": (process.model_copy(update={"jvm": jvm}),)})


CELLS = ("g1_00200_r1", "g1_01500_r1", "shenandoah_00200_r1", "shenandoah_01500_r1")


def test_facts_that_all_hosts_share_are_equal() -> None:
    found = environment(with_fingerprints())
    assert found.equal["kernel"] == "5.11.0-1022-aws"
    assert found.equal["load host: generator"] == "plimsoll-stress 0.1.0 on openjdk-11.0.13"
    assert found.deviations == ()


def test_huge_pages_of_shared_memory_and_the_data_disk_are_told() -> None:
    facts = environment(with_fingerprints()).equal
    for role in ("", "load host: "):
        assert facts[f"{role}transparent huge pages of shared memory"] == "advise"
        assert facts[f"{role}data disk"] == "Amazon EC2 NVMe Instance Storage, 300 GB"


def test_each_of_several_load_hosts_is_there_with_its_facts_and_the_first_one_s_clock() -> None:
    def with_two(fingerprint: Fingerprint | None) -> Fingerprint:
        assert fingerprint is not None
        bigger = fingerprint.load_host.model_copy(update={"cpus": 96})
        return fingerprint.model_copy(update={"further_load_hosts": {"load2": bigger}, "load_clock_offset_ms": -41.0})

    data = demo_campaign()
    attempts = tuple(replace(one, fingerprint=with_two(one.fingerprint)) for one in data.attempts)
    found = environment(analyse(replace(data, attempts=attempts)))
    assert found.by_host["load host: CPUs"]["96"] == ("load2",)
    assert found.largest_clock_offset_ms == 41.0


def test_facts_that_follow_the_variant_are_not_alarming() -> None:
    found = environment(with_fingerprints())
    assert found.by_variant["collector"] == {"g1": "G1 (G1 Young)", "shenandoah": "Shenandoah (Shenandoah Young)"}


def test_a_fact_that_differs_within_a_variant_is_a_deviation_with_its_cell(patchy: Findings) -> None:
    deviations = {one.fact: one for one in environment(patchy).deviations}
    assert deviations["kernel"].others == {"5.11.0-1028-aws": ("shenandoah-020k-r2",)}
    assert deviations["kernel"].usual["prime"] == "5.11.0-1022-aws"


def test_a_deviation_of_one_host_names_the_host() -> None:
    data = demo_campaign()
    first = data.attempts[0]
    assert first.fingerprint is not None
    odd, *rest = first.fingerprint.nodes
    nodes = (odd.model_copy(update={"facts": odd.facts.model_copy(update={"cpus": 4})}), *rest)
    changed = replace(first, fingerprint=first.fingerprint.model_copy(update={"nodes": nodes}))
    (deviation,) = environment(analyse(replace(data, attempts=(changed, *data.attempts[1:])))).deviations
    assert deviation.others == {"4": ("g1-00200-r1 (node1)",)}


def test_a_flag_that_only_some_cells_have_is_a_deviation_too() -> None:
    found = environment(with_fingerprints(g1_00200_r1=["-XX:+UseNUMA"]))
    (deviation,) = found.deviations
    assert deviation.fact == "option -XX:UseNUMA"
    assert {deviation.usual["shenandoah"], *deviation.others} >= {ABSENT}


def test_opposite_settings_of_a_flag_meet_under_one_name() -> None:
    on, off = ["-XX:+UseNUMA"], ["-XX:-UseNUMA"]
    found = environment(with_fingerprints(**dict(zip(CELLS, (on, on, off, off), strict=True))))
    assert found.by_variant["option -XX:UseNUMA"] == {"g1": "-XX:+UseNUMA", "shenandoah": "-XX:-UseNUMA"}


def test_facts_by_host_that_are_alike_in_every_cell_are_calm() -> None:
    found = environment(with_fingerprints(**{key: ["-Dtoken={node}"] for key in CELLS}))
    assert found.by_host["option -Dtoken"] == {f"-Dtoken={node}": (f"node{node}",) for node in (1, 2, 3)}


def test_facts_that_name_each_host_are_set_apart() -> None:
    names = {cell: [f"-Did={cell}-{{node}}"] for cell in CELLS}
    assert environment(with_fingerprints(**names)).own_everywhere == ("option -Did",)


def test_paths_ports_and_addresses_are_a_cell_s_own() -> None:
    arguments = {
        cell: [
            f"-Dhome=/var/lib/{cell}/node{{node}}",
            f"-Djmx.port=7{place}9{{node}}",
            "-Dbind=127.0.1.{node}",
        ]
        for place, cell in enumerate(CELLS)
    }
    found = environment(with_fingerprints(**arguments))
    assert found.equal["option -Dhome"] == "-Dhome=‹path›"
    assert found.equal["option -Djmx.port"] == "-Djmx.port=‹port›"
    assert found.equal["option -Dbind"] == "-Dbind=‹address›"


def test_cells_without_a_fingerprint_are_named() -> None:
    data = demo_campaign()
    bare = replace(data.attempts[0], fingerprint=None)
    found = environment(analyse(replace(data, attempts=(bare, *data.attempts[1:]))))
    assert found.without_fingerprint == ("g1-00200-r1",)


def test_the_largest_clock_offset_is_stated() -> None:
    assert environment(with_fingerprints()).largest_clock_offset_ms == 0.30000000000000004


def test_what_is_taken_out_of_nodes_times_is_told_against_the_load_generator_s_clock(
    demo_figures: Sequence[Figure],
) -> None:
    def behind(fingerprint: Fingerprint | None) -> Fingerprint:
        """The load host is 41 ms behind the controller, and each node at most 0.3 ms from the load host."""
        assert fingerprint is not None
        nodes = tuple(one.model_copy(update={"clock_offset_ms": one.clock_offset_ms - 41}) for one in fingerprint.nodes)
        return fingerprint.model_copy(update={"nodes": nodes, "load_clock_offset_ms": -41.0})

    data = demo_campaign()
    attempts = tuple(replace(one, fingerprint=behind(one.fingerprint)) for one in data.attempts)
    findings = analyse(replace(data, attempts=attempts))
    page = page_html(findings, demo_figures)
    assert "are taken out (0.3 ms at most)" in page
    assert "Largest offset of a host's clock from the controller's: 41 ms." in page


def test_a_machine_that_was_looked_at_tells_of_the_node_at_its_address() -> None:
    data = demo_campaign()

    def theirs(one: Fingerprint | None) -> Fingerprint | None:
        if one is None:
            return None
        looked_at = [node.model_copy(update={"processes": (), "host": f"node{n}"}) for n, node in enumerate(one.nodes)]
        addresses = [f"{looked_at[0].address}:5432", "elsewhere"]
        told = [ReportedNode(address=at, data_centre="", rack="", release_version="15.3") for at in addresses]
        return one.model_copy(update={"nodes": tuple(looked_at[:2]), "reported_nodes": tuple(told)})

    attempts = tuple(replace(one, fingerprint=theirs(one.fingerprint)) for one in data.attempts)
    found = environment(analyse(replace(data, attempts=attempts)))
    assert found.equal["database"] == "15.3"
    assert set(found.by_host["operating system"]) == {"Ubuntu 20.04.3 LTS", "not known"}
    assert found.equal["machine: operating system"] == "Ubuntu 20.04.3 LTS"
    assert found.equal["JVM flags"] == "not known"
