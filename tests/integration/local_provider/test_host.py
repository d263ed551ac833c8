"""Commands and files of a local host, with real processes."""

import socket
import sys
from datetime import timedelta
from pathlib import Path, PurePosixPath

import pytest
from tests.integration.local_provider.conftest import marked

from plimsoll.domain.errors import HostError

LONG = timedelta(seconds=60)


def test_a_command_gives_its_output_and_exit_code(host):
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    result = host.run([sys.executable, "-c", code], timeout=LONG, check=False)
    assert (result.exit_code, result.stdout, result.stderr) == (3, "out\n", "err\n")


def test_a_failed_command_is_an_error_with_what_it_said(host):
    with pytest.raises(HostError, match=r"host node1.*exit code 3: no such keyspace"):
        host.run([sys.executable, "-c", "import sys; print('no such keyspace'); sys.exit(3)"], timeout=LONG)


def test_a_missing_program_is_named(host):
    with pytest.raises(HostError, match="no program `plimsoll-nonesuch`"):
        host.run(["plimsoll-nonesuch"], timeout=LONG)


def test_a_command_that_hangs_is_killed_with_what_it_forked(host):
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    with pytest.raises(HostError, match="did not end within"):
        host.run([sys.executable, "-c", code], timeout=timedelta(milliseconds=300))
    assert not marked("PLIMSOLL_TEST", str(host.root.parent))


def test_arguments_reach_no_shell(host):
    result = host.run([sys.executable, "-c", "import sys; print(sys.argv[1:])", "$(id); `id` > x", "*"], timeout=LONG)
    assert result.stdout == "['$(id); `id` > x', '*']\n"
    assert host.files(host.root) == ()


def test_a_free_port_is_one_of_the_hosts_own_address(host):
    with socket.create_server((host.info.address, host.free_port())) as server:
        assert server.getsockname()[0] == "127.0.0.1"


def test_files_are_written_listed_read_and_fetched(host, tmp_path):
    host.write(host.root / "conf" / "cassandra.yaml", "cluster_name: ä\n")
    host.write(PurePosixPath("logs/system.log"), "0123456789")
    assert host.files(host.root) == (host.root / "conf/cassandra.yaml", host.root / "logs/system.log")
    assert host.read_tail(host.root / "logs/system.log", max_bytes=4) == "6789"
    host.fetch(host.root / "conf/cassandra.yaml", tmp_path / "kept" / "c.yaml")
    assert (tmp_path / "kept" / "c.yaml").read_text(encoding="utf-8") == "cluster_name: ä\n"


def test_facts_are_this_machines(host):
    facts = host.facts()
    assert facts.memory_bytes > 1 << 28
    assert facts.cpus >= 1
    assert facts.page_size_bytes in (4096, 16384, 65536)
    assert all((facts.os, facts.kernel, facts.cpu_model, facts.transparent_huge_pages))
    assert facts.provider == {"machine": "here"}


def test_a_bundle_is_used_where_it_lies(host, tmp_path):
    (tmp_path / "bundle").mkdir()
    assert Path(host.install(tmp_path / "bundle")) == tmp_path / "bundle"
    with pytest.raises(HostError, match="no folder"):
        host.install(tmp_path / "none")
