"""The JVM's flag of each collector: it chooses the collector, and the JVM reports it as true while it uses that one."""

from collections.abc import Mapping

from plimsoll.domain.variant import Collector

COLLECTOR_FLAGS: Mapping[Collector, str] = {
    "G1": "UseG1GC",
    "CMS": "UseConcMarkSweepGC",
    "Shenandoah": "UseShenandoahGC",
    "ZGC": "UseZGC",
    "Parallel": "UseParallelGC",
    "Serial": "UseSerialGC",
}
"""The flag that chooses each collector. C4 has none, because its JVM has no other collector."""
