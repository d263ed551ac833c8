"""Commands and files: the same on either kind of host, this machine's and one behind a real sshd."""

import json
import os
import socket
import sys
from datetime import timedelta
from pathlib import Path, PurePosixPath

import psutil
import pytest
from tests.support.processes import marked, until

from plimsoll.adapters.hosts.processes import given
from plimsoll.domain.text.errors import HostError
from plimsoll.ports.host import Host
from plimsoll.ports.secrets import CommandSecrets

LONG = timedelta(seconds=60)


def test_a_command_gives_its_output_and_exit_code(host: Host) -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    result = host.run([sys.executable, "-c", code], timeout=LONG, check=False)
    assert (result.exit_code, result.stdout, result.stderr) == (3, "out\n", "err\n")


def test_a_failed_command_is_an_error_with_what_it_said(host: Host) -> None:
    with pytest.raises(HostError, match=r"host node1.*exit code 3: no such keyspace"):
        host.run([sys.executable, "-c", "import sys; print('no such keyspace'); sys.exit(3)"], timeout=LONG)


def test_a_missing_program_is_named(host: Host) -> None:
    with pytest.raises(HostError, match="no program `plimsoll-nonesuch`"):
        host.run(["plimsoll-nonesuch"], timeout=LONG)


def test_a_command_that_hangs_is_killed_with_what_it_forked(host: Host) -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    with pytest.raises(HostError, match="did not end within"):
        host.run([sys.executable, "-c", code], timeout=timedelta(milliseconds=300))
    until(lambda: not marked("PLIMSOLL_TEST", str(host.root.parent)), "the end of what it forked")


def test_secrets_are_in_the_environment_and_in_files_in_memory_alone(host: Host) -> None:
    shown = 'echo "$TOKEN"; cat "$KEY" "$KEY"; stat -L -c %a "$KEY"; cat; tr "\\0" " " </proc/$$/cmdline'
    argv, stdin = given(["sh", "-c", shown], CommandSecrets({"TOKEN": "one"}, {"KEY": "two "}))
    told = host.run(argv, timeout=LONG, stdin=stdin).stdout
    assert told.startswith("one\ntwo two 600\nsh -c echo")
    assert "two" not in told.partition("600")[2]
    assert host.files(host.root) == ()


def test_a_program_that_is_not_there_is_told_though_it_would_be_given_secrets(host: Host) -> None:
    argv, stdin = given(["plimsoll-nonesuch"], CommandSecrets({"TOKEN": "one"}))
    told = host.run(argv, timeout=LONG, stdin=stdin, check=False)
    assert (told.exit_code, told.stderr) == (127, "plimsoll-nonesuch: No such file or directory\n")


def test_arguments_reach_no_shell(host: Host) -> None:
    result = host.run([sys.executable, "-c", "import sys; print(sys.argv[1:])", "$(id); `id` > x", "*"], timeout=LONG)
    assert result.stdout == "['$(id); `id` > x', '*']\n"
    assert host.files(host.root) == ()


def test_a_free_port_is_one_of_the_hosts_own_address(host: Host) -> None:
    with socket.create_server((host.info.address, host.free_port())) as server:
        assert server.getsockname()[0] == "127.0.0.1"


def test_files_are_written_listed_read_and_fetched(host: Host, tmp_path: Path) -> None:
    host.write(host.root / "conf" / "cassandra.yaml", "cluster_name: ä\n")
    host.write(PurePosixPath("logs/system.log"), "0123456789")
    assert host.files(host.root) == (host.root / "conf/cassandra.yaml", host.root / "logs/system.log")
    assert host.read_tail(host.root / "logs/system.log", max_bytes=4) == "6789"
    host.fetch(host.root / "conf/cassandra.yaml", tmp_path / "kept" / "c.yaml")
    assert (tmp_path / "kept" / "c.yaml").read_text(encoding="utf-8") == "cluster_name: ä\n"


def test_facts_are_this_machines(host: Host) -> None:
    facts = host.facts()
    assert facts.memory_bytes > 1 << 28
    assert facts.cpus >= 1
    assert facts.page_size_bytes in (4096, 16384, 65536)
    assert all((facts.os, facts.kernel, facts.cpu_model, facts.transparent_huge_pages))
    assert facts.provider == {"machine": "here"}


def test_the_environment_is_clean(host: Host) -> None:
    result = host.run([sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"], timeout=LONG)
    environment = json.loads(result.stdout)
    assert "JAVA_TOOL_OPTIONS" not in environment
    assert environment["PLIMSOLL_TEST"] == str(host.root.parent)
    assert environment["PATH"]
    assert environment["HOME"]


ODD_NAMES = ["with space", "it's", 'say "so"', "line\nfeed", "$HOME", "-rf", "a;b|c&d", "ünï", "*", "back\\slash"]


def test_files_may_have_any_name(host: Host, tmp_path: Path) -> None:
    for number, name in enumerate(ODD_NAMES):
        host.write(PurePosixPath("odd folder's", name), str(number))
    assert set(host.files(PurePosixPath("odd folder's"))) == {host.root / "odd folder's" / name for name in ODD_NAMES}
    for number, name in enumerate(ODD_NAMES):
        path = host.root / "odd folder's" / name
        assert host.read_tail(path, max_bytes=10) == str(number)
        host.fetch(path, tmp_path / "kept")
        assert (tmp_path / "kept").read_text() == str(number)


@pytest.mark.parametrize(
    "word", ["$(touch owned)", "`touch owned`", "; touch owned", "a\nb", "it's", '"', "", " ", "~", "-n"]
)
def test_a_word_stays_a_word(host: Host, word: str) -> None:
    result = host.run([sys.executable, "-c", "import sys; sys.stdout.write(sys.argv[1])", word], timeout=LONG)
    assert result.stdout == word
    assert not [path for path in host.files(host.root) if path.name == "owned"]


def test_huge_output_comes_whole(host: Host) -> None:
    code = "import sys; sys.stderr.write('e' * 3_000_000); sys.stdout.write('o' * 20_000_000); sys.stderr.write('e')"
    result = host.run([sys.executable, "-c", code], timeout=LONG)
    assert (len(result.stdout), len(result.stderr)) == (20_000_000, 3_000_001)


def test_output_without_end_ends_the_command(host: Host) -> None:
    place = str(host.root / "pid")
    code = f"import os; open({place!r}, 'w').write(str(os.getpid()))\nwhile True: os.write(1, bytes(1 << 16))"
    with pytest.raises(HostError, match="printed more than 64 MiB"):
        host.run([sys.executable, "-c", code], timeout=LONG)
    pid = int(host.read_tail(PurePosixPath("pid"), max_bytes=20))
    until(lambda: not psutil.pid_exists(pid), "the end of the command")


def test_a_file_that_is_large_or_never_ends_is_not_fetched(host: Host, tmp_path: Path) -> None:
    host.write(PurePosixPath("sparse"), "")
    os.truncate(host.root / "sparse", 3 << 30)
    os.mkfifo(host.root / "pipe")
    with pytest.raises(HostError, match="larger than 1G"):
        host.fetch(PurePosixPath("sparse"), tmp_path / "sparse")
    with pytest.raises(HostError, match="no file"):
        host.fetch(PurePosixPath("pipe"), tmp_path / "pipe")
    assert not [path for path in (tmp_path / "sparse", tmp_path / "pipe") if path.exists()]
    assert not host.measure([PurePosixPath("sparse"), PurePosixPath("pipe")])


def test_a_damaged_record_of_a_job_is_an_error_that_names_it(host: Host) -> None:
    host.write(PurePosixPath("jobs/damaged.job"), '{"pid": "one"')
    host.write(PurePosixPath("jobs/coded.job"), '{"pid": 1, "start": 1, "boot": "x"}')
    host.write(PurePosixPath("jobs/coded.exit"), "none")
    for job_id, file in (("damaged", "damaged.job"), ("coded", "coded.exit")):
        with pytest.raises(HostError, match=f"{file} is damaged") as error:
            host.status(job_id)
        assert "Traceback" not in str(error.value)


def test_a_command_has_no_input_to_wait_for(host: Host) -> None:
    assert host.run([sys.executable, "-c", "import sys; print(sys.stdin.read())"], timeout=LONG).stdout == "\n"


def test_a_big_file_has_a_tail_and_is_fetched_whole(host: Host, tmp_path: Path) -> None:
    content = "".join(f"{number:09d}\n" for number in range(300_000))
    host.write(PurePosixPath("big"), content)
    assert host.read_tail(PurePosixPath("big"), max_bytes=1_000_000) == content[-1_000_000:]
    host.fetch(PurePosixPath("big"), tmp_path / "big")
    assert (tmp_path / "big").read_text() == content


def test_writing_again_replaces_and_leaves_nothing_beside(host: Host) -> None:
    for content in ("old and longer", "new"):
        host.write(PurePosixPath("conf/file"), content)
    assert host.read_tail(PurePosixPath("conf/file"), max_bytes=100) == "new"
    assert host.files(host.root / "conf") == (host.root / "conf/file",)


def test_what_is_not_there_is_empty_listed_as_nothing_and_not_fetched(host: Host, tmp_path: Path) -> None:
    assert host.read_tail(PurePosixPath("none"), max_bytes=10) == ""
    host.write(PurePosixPath("conf/file"), "x")
    assert host.read_tail(PurePosixPath("conf"), max_bytes=10) == ""
    assert host.files(host.root / "none") == ()
    with pytest.raises(HostError, match=r"host node1.*none"):
        host.fetch(PurePosixPath("none"), tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("path", ["../beside", "/etc/plimsoll", "a/../../b"])
def test_nothing_is_written_outside_the_hosts_folder(host: Host, path: str) -> None:
    with pytest.raises(HostError, match="not below the host's folder"):
        host.write(PurePosixPath(path), "x")


def test_a_place_that_can_not_be_written_is_named(host: Host) -> None:
    host.write(PurePosixPath("file"), "x")
    with pytest.raises(HostError, match=r"host node1[\s\S]*can't use"):
        host.write(PurePosixPath("file/below"), "x")


def test_the_clock_is_this_machines(host: Host) -> None:
    reading = host.clock()
    assert reading.error_ms >= 0
    assert abs(reading.offset_ms) <= reading.error_ms + 1
