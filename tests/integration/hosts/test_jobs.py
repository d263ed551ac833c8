"""Detached jobs with real processes: the same on either kind of host."""

import json
import os
import signal
import threading
from datetime import timedelta
from pathlib import Path, PurePosixPath

import psutil
import pytest
from tests.support.processes import ended, job_record, log_of, marked, python_job, until

from plimsoll.domain.text.errors import HostError
from plimsoll.ports.host import Host, JobStatus

SLEEP = "import time; time.sleep(600)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
)
FORKING = (
    "import subprocess, sys, time; "
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True); "
    "print('up', flush=True); time.sleep(600)"
)
GRACE = timedelta(minutes=2)


def test_a_job_that_was_never_started_is_missing(host: Host) -> None:
    assert host.status("load") == JobStatus("missing")


def test_a_job_keeps_output_and_exit_code(host: Host) -> None:
    host.start(python_job("load", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)"))
    assert ended(host, "load") == 7
    assert sorted(log_of(host, "load").split()) == ["err", "out"]


def test_a_job_runs_in_its_folder_with_its_environment_and_its_marks_and_nothing_else(host: Host) -> None:
    code = "import os, json; print(json.dumps([os.getcwd(), dict(os.environ)]))"
    host.start(python_job("load", code, env={"OWN": "1", "PLIMSOLL_TEST": "forged"}, cwd=PurePosixPath("data")))
    ended(host, "load")
    cwd, environment = json.loads(log_of(host, "load"))
    assert cwd == str(host.root / "data")
    assert environment["OWN"] == "1"
    assert environment["PLIMSOLL_TEST"] == str(host.root.parent)
    assert "JAVA_TOOL_OPTIONS" not in environment


def test_what_a_job_reads_from_its_standard_input_is_in_no_file_command_or_environment(host: Host) -> None:
    code = "import sys; given = sys.stdin.read(); print(len(given), flush=True); import time; time.sleep(600)"
    host.start(python_job("load", code, stdin="not-to-be-seen " * 3000))
    until(lambda: log_of(host, "load"), "what the job prints")
    assert log_of(host, "load").strip() == "45000"
    process = psutil.Process(job_record(host, "load")["child"])
    assert "not-to-be-seen" not in f"{process.cmdline()}{process.environ()}"
    files = [path for path in Path(host.root).parent.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if b"not-to-be-seen" in path.read_bytes()]
    host.stop("load", grace=GRACE)


def test_more_than_a_pipe_holds_is_refused(host: Host) -> None:
    with pytest.raises(HostError, match="more than 64 KiB on its standard input"):
        host.start(python_job("load", SLEEP, stdin="x" * 65_537))


def test_a_second_start_attaches_even_after_the_end(host: Host) -> None:
    job = python_job("load", "print('once')")
    for _ in range(2):
        host.start(job)
        ended(host, "load")
    assert log_of(host, "load") == "once\n"


def test_of_many_starts_at_once_one_job_comes(host: Host) -> None:
    job = python_job("load", "import time; print('once', flush=True); time.sleep(600)")
    threads = [threading.Thread(target=host.start, args=(job,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    until(lambda: log_of(host, "load"), "output")
    assert len(marked("PLIMSOLL_TEST", str(host.root.parent))) == 2  # the supervisor and the job
    assert log_of(host, "load") == "once\n"


def test_a_program_that_is_not_there_is_said_and_leaves_nothing(host: Host) -> None:
    job = python_job("load", "", argv=["/nonexistent/java", "-version"])
    with pytest.raises(HostError, match="/nonexistent/java"):
        host.start(job)
    assert host.status("load").state == "missing"
    assert not marked("PLIMSOLL_TEST", str(host.root.parent))


def test_stop_asks_first(host: Host) -> None:
    code = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(3)); print('up', flush=True); "
    host.start(python_job("load", f"{code} signal.pause()"))
    until(lambda: log_of(host, "load"), "output")
    host.stop("load", grace=GRACE)
    assert host.status("load") == JobStatus("exited", 3)


def test_stop_makes_a_stubborn_job_end(host: Host) -> None:
    host.start(python_job("load", STUBBORN))
    until(lambda: log_of(host, "load"), "output")
    host.stop("load", grace=timedelta(0))
    assert host.status("load") == JobStatus("exited", 128 + signal.SIGKILL)


def test_stop_of_an_ended_or_missing_job_is_no_error(host: Host) -> None:
    host.stop("none", grace=GRACE)
    host.start(python_job("load", ""))
    ended(host, "load")
    host.stop("load", grace=GRACE)


def test_stop_ends_what_the_job_forked(host: Host) -> None:
    host.start(python_job("load", FORKING))
    until(lambda: log_of(host, "load"), "output")
    host.stop("load", grace=GRACE)
    until(lambda: not marked("PLIMSOLL_TEST", str(host.root.parent)), "the end of all processes")


def test_a_job_ends_when_its_time_is_over(host: Host) -> None:
    host.start(python_job("load", SLEEP, expires=timedelta(milliseconds=200)))
    assert ended(host, "load") == 128 + signal.SIGTERM


def test_a_job_without_time_left_is_refused(host: Host) -> None:
    with pytest.raises(HostError, match="no time left"):
        host.start(python_job("load", SLEEP, expires=timedelta(0)))


def test_a_killed_supervisor_takes_its_job_along(host: Host) -> None:
    host.start(python_job("load", SLEEP))
    os.kill(job_record(host, "load")["pid"], signal.SIGKILL)
    assert ended(host, "load") is None
    until(lambda: not marked("PLIMSOLL_TEST", str(host.root.parent)), "the end of the job")


def test_a_job_killed_from_outside_says_by_which_signal(host: Host) -> None:
    host.start(python_job("load", SLEEP))
    os.kill(job_record(host, "load")["child"], signal.SIGKILL)
    assert ended(host, "load") == 128 + signal.SIGKILL


def test_a_process_id_used_again_is_not_taken_for_the_job(host: Host) -> None:
    host.start(python_job("load", SLEEP))
    path = Path(host.root, "jobs", "load.job")
    supervisor = job_record(host, "load")["pid"]
    path.write_text(json.dumps({**job_record(host, "load"), "start": 1}))
    assert host.status("load") == JobStatus("exited", None)
    host.stop("load", grace=GRACE)
    assert psutil.pid_exists(supervisor)


def test_a_job_of_before_a_reboot_is_not_running(host: Host) -> None:
    host.start(python_job("load", SLEEP))
    Path(host.root, "jobs", "load.job").write_text(json.dumps({**job_record(host, "load"), "boot": "another"}))
    assert host.status("load") == JobStatus("exited", None)


def test_a_folder_is_owned_by_one_job_at_a_time(host: Host) -> None:
    data = host.root / "data"
    host.start(python_job("one", SLEEP, owns=data))
    with pytest.raises(HostError, match=r"data is in use by job one"):
        host.start(python_job("two", SLEEP, owns=data))
    assert host.status("two").state == "missing"
    host.stop("one", grace=GRACE)
    host.start(python_job("two", "", owns=data))
    assert ended(host, "two") == 0


def test_a_folder_stays_owned_while_anything_of_the_job_lives(host: Host) -> None:
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEP!r}], close_fds=False); {STUBBORN}"
    host.start(python_job("one", code, owns=host.root / "data"))
    until(lambda: log_of(host, "one"), "output")
    os.kill(job_record(host, "one")["pid"], signal.SIGKILL)
    ended(host, "one")
    with pytest.raises(HostError, match="in use"):
        host.start(python_job("two", SLEEP, owns=host.root / "data"))


@pytest.mark.parametrize("job_id", ["../evil", "a/b", "", "-x"])
def test_an_id_that_is_not_a_name_is_refused(host: Host, job_id: str) -> None:
    with pytest.raises(HostError, match="not a job's id"):
        host.start(python_job(job_id, SLEEP))


@pytest.mark.parametrize(("stdin", "most"), [("a password", "0 0"), ("", "")])
def test_whoever_is_told_a_secret_leaves_no_core_when_it_crashes(host: Host, stdin: str, most: str) -> None:
    code = "import resource; print(*resource.getrlimit(resource.RLIMIT_CORE))"
    host.start(python_job("load", code, stdin=stdin))
    host.start(python_job("plain", code))
    assert (ended(host, "load"), ended(host, "plain")) == (0, 0)
    assert log_of(host, "load").strip() == (most or log_of(host, "plain").strip())
