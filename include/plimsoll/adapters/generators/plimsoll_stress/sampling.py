"""The progress of the job that writes a sample of a workload's rows. It has a folder of its own on the load host."""

from pathlib import PurePosixPath

from plimsoll.adapters.generators.load_job import TAIL_BYTES, last_lines
from plimsoll.adapters.generators.plimsoll_stress import command, reports
from plimsoll.adapters.hosts.jobs import console_path
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadStatus


def folder_of(host: Host, job_id: str) -> PurePosixPath:
    """Return the job's folder."""
    return host.root / "samples" / job_id


def status(host: Host, job_id: str) -> LoadStatus:
    """Return the state of a sample: running, complete, or failed with the reason and the console's last lines."""
    job, folder = host.status(job_id), folder_of(host, job_id)
    if job.state == "running":
        progress = reports.last_progress(host.read_tail(folder / command.PROGRESS, max_bytes=TAIL_BYTES))
        return LoadStatus("running", achieved_ops_s=progress.achieved_ops_s if progress else None)
    summary = reports.parse_summary(host.read_tail(folder / command.SUMMARY, max_bytes=TAIL_BYTES))
    if summary.complete and job.exit_code == 0:
        return LoadStatus("complete")
    console = host.read_tail(console_path(host.root, job_id), max_bytes=TAIL_BYTES)
    reason = summary.reason or f"it ended with exit code {job.exit_code}"
    return LoadStatus("failed", reason=f"a sample of the rows could not be written: {reason}{last_lines(console)}")
