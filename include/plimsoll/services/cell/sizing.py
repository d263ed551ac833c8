"""Count how many rows make the size on disk that a workload asks for, once for all cells of a campaign.

The campaign's first cell writes a sample of the rows into a keyspace of its own, asks nodes what that takes on disk,
and puts on record how many rows every cell is to have. Then it populates as all others do. What is interrupted goes on:
samples are jobs with ids of their own. Of two cells that measure at once the first record stands, and each removes the
samples that it wrote.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from plimsoll.domain.attempt.populated_data import (
    FIRST_SAMPLE,
    CountedRows,
    Sample,
    is_within_tolerance,
    least_time,
    rows_of,
    second_sample,
)
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.domain.text.errors import DeployError, LoadError
from plimsoll.domain.text.units import format_size
from plimsoll.ports.load_generator import LoadRequest
from plimsoll.services.cell.attempt_state import note_phase
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.retries import report_waiting
from plimsoll.services.store import layout

_LONGEST = timedelta(minutes=20)
"""The time for all samples together: less than the step that starts the load may take."""


def with_counted_rows(work: AttemptContext, cluster: Cluster, request: LoadRequest) -> LoadRequest:
    """Return the request with the number of rows that gives the requested size.

    Unchanged if the workload requests no size. Measures if no cell of the campaign did. Raises LoadError or DeployError
    if that fails, or if populating so many rows would take longer than the definition allows.
    """
    asked_bytes = request.spec.workload.data_per_node
    if asked_bytes is None:
        return request
    measurement = _Measurement(work, cluster, request, asked_bytes)
    counted = read_counted_rows(work)
    if counted is None:
        name = work.cell.workload or "workload"
        counted = layout.ROWS.settle(work.store, work.key.campaign_id, measurement.counted(), name)
    measurement.clear()  # also where another cell's record stands
    _require_time(work, counted)
    # `deploy` wrote it before the rows were counted
    fingerprint = layout.FINGERPRINT.read(work.store, work.key)
    if fingerprint is not None:
        amended = fingerprint.model_copy(update={"counted_rows": counted.rows})
        layout.FINGERPRINT.write(work.store, work.key, amended)
    return replace(request, spec=measurement.with_rows(counted.rows))


def read_counted_rows(work: AttemptContext) -> CountedRows | None:
    """Read the rows on record for the cell's workload; None as long as nobody has measured them."""
    return layout.ROWS.read(work.store, work.key.campaign_id, work.cell.workload or "workload")


def bytes_on_disk(work: AttemptContext, cluster: Cluster) -> Mapping[str, int]:
    """Measure what the populated rows take on each node's disk, where it was asked for; empty where unknown."""
    if work.part.workload.data_per_node is None:
        return {}
    try:
        return work.product.bytes_on_disk(work.nodes(cluster), work.load_generator.keyspace)
    except DeployError:  # the load that follows shows whether the nodes are well
        return {}


def flush_once(work: AttemptContext, cluster: Cluster) -> None:
    """Have the nodes write the populated rows to disk, once, if a size was requested.

    A flush can begin compactions, so it comes before compactions are waited for.
    """
    mark = layout.FLUSHED.key(work.key)
    if work.part.workload.data_per_node is not None and not work.store.exists(mark):
        # Products flush before they measure; the size itself is asked for after the compactions
        bytes_on_disk(work, cluster)
        work.store.create(mark, b"")


def size_remark(asked_bytes: int | None, found: Mapping[str, int]) -> str:
    """Return a remark on the data's size on the nodes; empty if it is as requested or none was."""
    if asked_bytes is None:
        return ""
    if not found:
        return "what the populated rows take on the nodes' disks is not known"
    odd = {node: size for node, size in found.items() if not is_within_tolerance(asked_bytes, size)}
    sizes = ", ".join(f"{node} {size / 2**20:,.1f} MiB" for node, size in odd.items())
    return f"the populated rows take another size on disk than {format_size(asked_bytes)}: {sizes}" if odd else ""


def _require_time(work: AttemptContext, counted: CountedRows) -> None:
    """Raise LoadError where the rows can't be populated in time even at the highest rate of their samples."""
    timing, hosts = work.part.timing, work.part.load_generator.hosts
    least = least_time(counted, hosts)
    if least <= timing.longest_populating:
        return
    raise LoadError(
        f"populating {counted.rows:,} rows would take {least} or longer at {(counted.rows_per_s or 0) * hosts:,.0f} "
        f"rows/s, the highest rate of their sample; it may take {timing.longest_populating}",
        where=str(work.key),
        mend="run a new campaign that writes a longer `timing.populating`, or asks for less data",
    )


def _keyspace(number: int) -> str:
    return f"plimsoll_sample_{number}"


class _Measurement:
    """Samples of one workload's rows on one attempt's cluster."""

    def __init__(self, work: AttemptContext, cluster: Cluster, request: LoadRequest, asked_bytes: int) -> None:
        generator, product = work.load_generator, work.product
        if not (generator.can_sample and product.measures_rows):
            what = f"{generator.name} and {product.name} can't tell how many rows make a size"
            raise LoadError(what, where=str(work.key), mend="give the number of rows instead of `data_per_node`")
        self._work, self._request, self._asked_bytes = work, request, asked_bytes
        self._generator, self._product = generator, product
        self._nodes = work.nodes(cluster)
        [self._load, *_] = work.hosts(cluster, cluster.load_hosts)
        self._jobs = {number: f"sample-{work.key.environment}-{number}" for number in (1, 2)}
        self._deadline = work.toolkit.clock.now() + _LONGEST
        self._highest_rate: float | None = None

    def with_rows(self, rows: int) -> LoadSpec:
        return self._generator.with_rows(self._request.spec, rows)

    def counted(self) -> CountedRows:
        """Count by the first rows; if there will be many more, by a second sample from the whole range."""
        sample = Sample(FIRST_SAMPLE)
        taken = self._bytes_of(sample, 1)
        if (second := second_sample(self._asked_bytes, taken)) is not None:
            sample, taken = second, self._bytes_of(second, 2)
        return CountedRows(
            rows=rows_of(self._asked_bytes, sample.rows, taken),
            asked_bytes=self._asked_bytes,
            sample_rows=sample.rows,
            sample_bytes=taken,
            cell=self._work.key.cell_id,
            attempt=self._work.key.attempt,
            measured_at=self._work.toolkit.clock.now(),
            rows_per_s=self._highest_rate,
        )

    def clear(self) -> None:
        """End the samples and remove their rows. Done again, it does nothing.

        Only those that the attempt has begun, perhaps in a process that was killed: a drop takes a JVM on a node.
        """
        for number, job in self._jobs.items():
            if self._load.status(job).state != "missing":
                self._generator.stop(self._load, job)
                self._product.drop(self._nodes, _keyspace(number))

    def _bytes_of(self, sample: Sample, number: int) -> int:
        """Measure what those rows take on a node's disk, the nodes' mean."""
        job, keyspace = self._jobs[number], _keyspace(number)
        spec = self.with_rows(sample.of_rows)
        request = replace(self._request, job_id=job, spec=spec, parts=sample.parts, waits=False)
        self._generator.start_sample(self._load, request, keyspace)
        self._await(job, sample.rows)
        bytes_by_node = self._product.bytes_on_disk(self._nodes, keyspace)
        if not any(bytes_by_node.values()):
            what = f"a sample of {sample.rows:,} rows takes nothing on disk"
            mend = "name no keyspace in the workload's own statements, or give the number of rows"
            raise LoadError(what, where=str(self._work.key), mend=mend)
        return max(1, round(sum(bytes_by_node.values()) / len(bytes_by_node)))

    def _await(self, job: str, rows: int) -> None:
        toolkit = self._work.toolkit
        note = f"counting how many rows make {format_size(self._asked_bytes)} on each node: a sample of {rows:,}"
        report_waiting(note)
        while (status := self._generator.sample_status(self._load, job)).state == "running":
            rate, attempted = status.achieved_ops_s, self._request.load_ops_s
            self._highest_rate = max(rate or 0.0, self._highest_rate or 0.0) or None
            facts = {"note": note, "achieved_ops_s": rate, "attempted_ops_s": attempted}
            note_phase(toolkit, self._work.key, "populate", **facts)
            if toolkit.clock.now() > self._deadline:
                what = f"rows could not be counted within {_LONGEST}: a sample of {rows:,} is still being written"
                raise LoadError(what, where=str(self._work.key), mend="give the number of rows")
            toolkit.clock.sleep(1.0)
        if status.state == "failed":
            raise LoadError(status.reason, where=str(self._work.key))
