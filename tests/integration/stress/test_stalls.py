"""A database that stands still: the schedule goes on, and nothing is missing."""

import time

STALL_S = 2.5
RATE = 300
FEW = ("-t", "2", "-c", "4", "-r", "0.2", "--rate", str(RATE))
CAP = 8


def stall(node, process, seconds=STALL_S):
    with node.stopped():
        time.sleep(seconds)
    return process.wait(timeout=120)


def accounted(run):
    return run["completed"] + sum(run["errors"].values())


def test_a_stall_shows_as_response_times_of_all_operations_that_were_due(node, start_load):
    process, files, log = start_load(node, *FEW, "-d", "8s")
    assert stall(node, process) == 0, log.read_text()
    run = files.summary["run"]
    assert run["scheduled"] == accounted(run) == RATE * 8
    late = files.slower("-intended-", 500_000)
    assert late >= 0.8 * RATE * (STALL_S - 0.5)
    assert files.slower("-intended-", 2_000_000) >= 0.8 * RATE * (STALL_S - 2.0)
    # Stock tools would show these few only: what was under way when it began.
    assert files.slower("-", 2_000_000) <= CAP
    assert 5 * files.slower("-", 500_000) < late


def test_in_a_stall_the_cap_holds_and_the_backlog_grows(node, start_load):
    process, files, log = start_load(node, *FEW, "-d", "6s")
    assert stall(node, process) == 0, log.read_text()
    during = max(files.progress, key=lambda line: line["backlog"])
    assert during["in_flight"] == CAP
    assert during["backlog"] >= RATE
    assert max(line["in_flight_max"] for line in files.progress) == CAP
    generator = files.summary["run"]["measured"]["generator"]
    assert generator["in_flight_max"] == CAP
    # The generator itself was not late: what waited for room waited for the database.
    assert generator["schedule_lag_ms"]["p99"] < 1000 * STALL_S / 2


def test_seconds_without_an_answer_have_empty_records(node, start_load):
    process, files, log = start_load(node, *FEW, "-d", "6s")
    assert stall(node, process) == 0, log.read_text()
    counts = [record.histogram.total_count for record in files.log("-intended-mutations")]
    assert 0 in counts
    assert [record.start_s for record in files.log("-intended-mutations")][:6] == [0, 1, 2, 3, 4, 5]


def test_operations_without_an_answer_are_client_timeouts_with_times_of_their_own(node, start_load):
    process, files, log = start_load(node, *FEW, "-d", "6s", "--request-timeout", "1s")
    assert stall(node, process) == 0, log.read_text()
    run = files.summary["run"]
    assert run["errors"]["client_timeout"] >= CAP
    assert accounted(run) == run["scheduled"]
    assert files.completed().total() == run["completed"]
    records = files.log(".errors")
    assert {record.tag for record in records} == {kind for kind, count in run["errors"].items() if count}
    timeouts = [record.histogram for record in records if record.tag == "client_timeout"]
    assert sum(histogram.total_count for histogram in timeouts) == run["errors"]["client_timeout"]
    assert min(histogram.get_min_value() for histogram in timeouts) >= 900_000
    assert files.progress[-1]["errors"]["client_timeout"] == run["errors"]["client_timeout"]


def test_what_would_start_too_late_overflows_and_the_console_says_so(node, start_load):
    process, files, log = start_load(node, *FEW, "-d", "7s", "--backlog-limit", "1s")
    assert stall(node, process) == 0, log.read_text()
    run = files.summary["run"]
    assert run["errors"]["overflow"] >= 0.5 * RATE * (STALL_S - 1)
    assert accounted(run) == run["scheduled"]
    assert "overflow: " in log.read_text()
    assert "more than 1 s late" in log.read_text()
    assert max(line["backlog"] for line in files.progress) <= 1.5 * RATE


def test_what_has_no_answer_after_the_drain_is_unfinished(node, start_load):
    process, files, log = start_load(node, *FEW, "-d", "5s", "--drain", "1s", "--give-up", "0s")
    assert stall(node, process, seconds=8) == 0, log.read_text()
    run = files.summary["run"]
    assert run["errors"]["unfinished"] >= RATE
    assert accounted(run) == run["scheduled"]
    assert run["drain_s"] <= 1


def test_a_stalled_generator_says_that_it_was_the_one(node, start_load):
    import signal

    process, files, log = start_load(node, *FEW, "-d", "6s")
    process.send_signal(signal.SIGSTOP)
    time.sleep(STALL_S)
    process.send_signal(signal.SIGCONT)
    assert process.wait(timeout=120) == 0, log.read_text()
    run = files.summary["run"]
    assert accounted(run) == run["scheduled"]
    generator = run["measured"]["generator"]
    assert generator["hiccup_max_ms"] >= 800 * STALL_S
    assert generator["schedule_lag_ms"]["max"] >= 800 * STALL_S
    assert files.slower("-intended-", 1_000_000) >= 0.8 * RATE * (STALL_S - 1)
    assert [record.start_s for record in files.log("-mutations")][:6] == [0, 1, 2, 3, 4, 5]
