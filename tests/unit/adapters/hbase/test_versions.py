import pytest

from plimsoll.adapters.products.hbase.inquiry import version_told


def test_a_process_that_has_told_no_version_has_none() -> None:
    assert version_told("master", "INFO  [main] 2026-11-27 02:00:00,000 x.Y: starting") == ""


@pytest.mark.parametrize("process", ["regionserver", "master"])
def test_hbase_also_tells_of_its_zookeeper_client(process: str) -> None:
    log = (
        "INFO [main] util.VersionInfo: HBase 2.6.4-hadoop3\nINFO [x] Client environment:zookeeper.version=3.8.4-9316\n"
    )
    assert version_told(process, log) == "2.6.4-hadoop3"
    assert version_told("zookeeper", log) == "3.8.4"
