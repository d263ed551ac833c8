"""The environment of a synthetic cell."""

from plimsoll.domain.hosts.fingerprint import Fingerprint, HostFacts, JvmFacts, NodeFingerprint, ProcessFingerprint
from plimsoll.domain.keys.variant import Variant


def fingerprint_of(variant: Variant, *, odd: bool, zone: str) -> Fingerprint:
    """Return the fingerprint of three nodes of the variant. With `odd` it has another kernel."""
    host = HostFacts(
        os="Ubuntu 20.04.3 LTS",
        kernel="5.11.0-1028-aws" if odd else "5.11.0-1022-aws",
        cpu_model="Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz",
        cpus=8,
        memory_bytes=66_571_993_088,
        page_size_bytes=4096,
        transparent_huge_pages="madvise",
        shared_huge_pages="advise",
        data_disk="Amazon EC2 NVMe Instance Storage, 300 GB",
        data_disk_device="/dev/nvme1n1",
        provider={"instance type": "r5d.2xlarge", "zone": zone},
    )
    declared = variant.jvm
    assert declared is not None, "what is made up runs on JVMs"
    jvm = JvmFacts(
        version="11.0.13+8",
        vendor="Azul Systems, Inc." if declared.collector == "C4" else "Eclipse Adoptium",
        name="Zing 64-Bit Tiered VM" if declared.collector == "C4" else "OpenJDK 64-Bit Server VM",
        collector=declared.collector,
        collector_beans=(f"{declared.collector} Young",),
        heap_max_bytes=declared.heap,
        arguments=(f"-Xms{declared.heap >> 20}M", f"-Xmx{declared.heap >> 20}M", "-Xlog:gc*:file=/data/n/gc.log"),
        flags={"AlwaysPreTouch": "true", "MaxHeapSize": str(declared.heap), "ParallelGCThreads": "8"},
    )
    nodes = tuple(_node(number, host, jvm) for number in (1, 2, 3))
    return Fingerprint(nodes=nodes, load_host=host, load_generator="plimsoll-stress 0.1.0 on openjdk-11.0.13")


def _node(number: int, host: HostFacts, jvm: JvmFacts) -> NodeFingerprint:
    return NodeFingerprint(
        host=f"node{number}",
        address=f"127.0.1.{number}",
        facts=host,
        processes=(ProcessFingerprint(name="cassandra", jvm=jvm),),
        database="cassandra",
        database_version="4.0.1",
        clock_offset_ms=0.1 * number,
    )
