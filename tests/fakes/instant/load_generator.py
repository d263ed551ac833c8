"""A load that is over when it has begun, with the logs of its whole time."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import inf
from pathlib import PurePosixPath

from pydantic import TypeAdapter
from tests.fakes.hdr import FAST_US, SLOW_US, interval_log
from tests.fakes.instant.faults import INSTANT, Faults, cell_of

from plimsoll.domain.attempt.load_summary import LoadSummary
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.keys.process import GeneratorSecond
from plimsoll.domain.keys.system import LoadGeneratorChoice
from plimsoll.domain.keys.timing import StopRule
from plimsoll.domain.keys.workload import Workload
from plimsoll.domain.text.errors import Problem
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadGenerator, LoadRequest, LoadStatus

_STATE = PurePosixPath("load.json")
_STOPPED = PurePosixPath("stopped")
_WAITING, _BEGUN = PurePosixPath("waiting.json"), PurePosixPath("begun")
_SHARES = {"mutations": 0.8, "selects": 0.2}
_SPEC = TypeAdapter(LoadSpec)


class InstantLoadGenerator(LoadGenerator):
    """A load that is complete at once, or after the workload's option `load_s`; its logs cover the defined duration."""

    name = INSTANT
    summary_file = "summary.json"
    summary_files: Sequence[str] = (summary_file,)
    progress_file = "progress.json"
    can_close_loop = True
    can_go_on = True
    can_wait = True
    unkept_because = "it judges no operation"

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def check(self, spec: LoadSpec) -> Sequence[Problem]:
        """Return no problem."""
        return ()

    def unkept(self, rule: StopRule, choice: LoadGeneratorChoice) -> str:
        """Return what the attribute of that name says, which tests set."""
        return self.unkept_because

    def prepare(self, spec: LoadSpec) -> None:
        """Do nothing."""

    def limits(self, spec: LoadSpec) -> Sequence[str]:
        """Return no limit."""
        return ()

    def processors(self, load_ops_s: int) -> float | None:
        """Return None: the generator takes no processor."""
        return None

    def unready(self, host: Host, spec: LoadSpec) -> str:
        """Return the empty text: the generator runs everywhere."""
        return ""

    def start(self, host: Host, request: LoadRequest) -> None:
        """Write the logs of the whole run, unless it was started before."""
        if self.has_started(host):
            return
        if request.parts > 1 or request.waits:
            host.write(_WAITING, _as_text(request))
            host.write(_STATE, json.dumps({"ends": inf, "rate": request.load_ops_s / request.parts}))
        else:
            self._put_on(host, request, time.time())

    def settles(self, workload: Workload) -> bool:
        """Answer as Plimsoll's own generator does."""
        return not workload.states_read_share

    def begin(self, host: Host, job_id: str, start: datetime, local: datetime) -> None:
        """Begin the load, as `start` does at once where there is one load host. Repeated, this does nothing."""
        if host.read_tail(_BEGUN, max_bytes=1):
            return
        host.write(_BEGUN, local.isoformat())
        self._put_on(host, _from_text(host.read_tail(_WAITING, max_bytes=1_000_000)), start.timestamp())

    def _put_on(self, host: Host, request: LoadRequest, began: float) -> None:
        took_us = SLOW_US if self._faults.hits(cell_of(host), "slow") else FAST_US
        for operation, count in _per_second(request).items():
            log = interval_log(began, _seconds(request), count, took_us)
            for measure in ("", "intended-"):
                host.write(PurePosixPath(f"load.hdr-{measure}{operation}"), log)
        host.write(PurePosixPath(self.summary_file), _summary(request, began).model_dump_json())
        takes = float(str((request.spec.workload.model_extra or {}).get("load_s", 0)))
        host.write(_STATE, json.dumps({"ends": time.time() + takes, "rate": request.load_ops_s / request.parts}))

    def has_started(self, host: Host) -> bool:
        """Tell whether a load was started there."""
        return bool(host.read_tail(_STATE, max_bytes=1))

    def status(self, host: Host, job_id: str) -> LoadStatus:
        """Return running until the load's time is over."""
        if self._faults.hits(cell_of(host), "load once"):
            self._faults.heal(cell_of(host))
            return LoadStatus("failed", reason="the load generator was told to fail once")
        if self._faults.hits(cell_of(host), "load"):
            return LoadStatus("failed", reason="the load generator was told to fail")
        if host.read_tail(_STOPPED, max_bytes=10):
            return LoadStatus("failed", reason="the load was stopped")
        state, left = self._state(host)
        if left <= 0:
            return LoadStatus("complete")
        if host.read_tail(_WAITING, max_bytes=1) and not host.read_tail(_BEGUN, max_bytes=1):
            return LoadStatus("running", seconds_left=60.0, errors=0, is_ready=True)
        return LoadStatus("running", "load", achieved_ops_s=state["rate"], seconds_left=left)

    def stop(self, host: Host, job_id: str) -> None:
        """End a load that runs."""
        if self._state(host)[1] > 0:
            host.write(_STOPPED, "stopped")

    def files(self, host: Host) -> Sequence[PurePosixPath]:
        """Return the interval logs and the summary."""
        return [path for path in host.files(PurePosixPath()) if ".hdr-" in path.name or path.name == self.summary_file]

    def describe(self, host: Host, spec: LoadSpec) -> str:
        """Return a name and version."""
        return "instant 1.0"

    def summary(self, files: Mapping[str, str]) -> LoadSummary:
        """Return the summary that `start` wrote."""
        text = files.get(self.summary_file, "")
        if not text:
            return LoadSummary(complete=False, reason="the run left no summary", attempted_ops_s=0)
        return LoadSummary.model_validate_json(text)

    def seconds(self, text: str) -> Sequence[GeneratorSecond]:
        """Return nothing, because the generator keeps no account of itself."""
        return ()

    def response_time_logs(self, spec: LoadSpec, names: Iterable[str]) -> Mapping[str, str]:
        """Return logs named like tlp-stress' files."""
        kinds = {"selects": "reads", "mutations": "writes"}
        return {kinds[name.rpartition("-")[2]]: name for name in names if ".hdr-intended-" in name}

    def _state(self, host: Host) -> tuple[dict[str, float], float]:
        """Return the settings of the started load, and the seconds that are left; none of a load that was not
        started.
        """
        state = json.loads(host.read_tail(_STATE, max_bytes=10_000) or '{"ends": 0}')
        return state, state["ends"] - time.time()


def _seconds(request: LoadRequest) -> int:
    return round(request.spec.timing.duration.total_seconds())


def _per_second(request: LoadRequest) -> dict[str, int]:
    return {operation: round(request.load_ops_s / request.parts * share) for operation, share in _SHARES.items()}


def _summary(request: LoadRequest, began: float) -> LoadSummary:
    timing = request.spec.timing
    judged_s = timing.judged.total_seconds()
    return LoadSummary(
        complete=True,
        generator="instant 1.0",
        started_at=datetime.fromtimestamp(began, UTC),
        duration_s=timing.duration.total_seconds(),
        warmup_s=timing.warmup.total_seconds(),
        attempted_ops_s=request.load_ops_s / request.parts,
        achieved_ops_s=request.load_ops_s / request.parts,
        answered=_seconds(request) * sum(_per_second(request).values()),
        operations={
            "writes": round(_per_second(request)["mutations"] * judged_s),
            "reads": round(_per_second(request)["selects"] * judged_s),
        },
        cpu_cores=0.1,
        schedule_lag_p99_ms=0.1,
        schedule_lag_max_ms=0.2,
        hiccup_max_ms=0.1,
        in_flight_max=4,
    )


def _as_text(request: LoadRequest) -> str:
    """Return a request, to be read by whoever tells its load when to start."""
    spec = _SPEC.dump_python(request.spec, mode="json", by_alias=True)
    return json.dumps({"spec": spec, "rate": request.load_ops_s, "part": request.part, "parts": request.parts})


def _from_text(text: str) -> LoadRequest:
    stored = json.loads(text)
    return LoadRequest(
        job_id="load",
        spec=_SPEC.validate_python(stored["spec"]),
        load_ops_s=stored["rate"],
        contact_points=(),
        expires=timedelta(hours=1),
        part=stored["part"],
        parts=stored["parts"],
    )
