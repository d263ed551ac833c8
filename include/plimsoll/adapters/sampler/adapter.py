"""Samples of a host from `/proc`, written by a script that any host with Python 3 can run."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path, PurePosixPath

from plimsoll.adapters.sampler import sample
from plimsoll.ports.host import Host, Job

JOB = "sampler"
SAMPLES = "host.csv"


class ProcSampler:
    """Implements the HostSampler port; the columns are those of `sample.COLUMNS`."""

    def start(self, host: Host, expires: timedelta, environments: frozenset[str] = frozenset()) -> None:
        """Start the script as a detached job, or leave a running one alone."""
        folder = host.root / JOB
        script = folder / "sample.py"
        host.write(script, Path(sample.__file__).read_text(encoding="utf-8"))
        # Isolated: neither the user's packages nor PYTHON* variables get into it.
        argv = ("python3", "-I", "-S", str(script), str(folder / SAMPLES), *sorted(environments))
        host.start(Job(id=JOB, argv=argv, expires=expires, cwd=folder))

    def files(self, host: Host) -> Sequence[PurePosixPath]:
        """The path of the CSV file, if the sampler has written it."""
        return [path for path in host.files(host.root / JOB) if path.name == SAMPLES]
