"""The sampler on either kind of host."""

from datetime import timedelta

from tests.processes import until

from plimsoll.adapters.sampler import ProcSampler, sample


def test_it_writes_its_columns_and_is_started_once(host):
    sampler = ProcSampler()
    for _ in range(2):
        sampler.start(host, timedelta(minutes=1))
    (samples,) = until(lambda: sampler.files(host), "the file")
    whole = until(lambda: host.read_tail(samples, max_bytes=10_000).count("\n") > 1, "a line")
    lines = host.read_tail(samples, max_bytes=10_000).splitlines()
    assert whole
    assert lines[0] == ",".join(sample.COLUMNS)
    assert len(lines[1].split(",")) == len(sample.COLUMNS)
    assert float(lines[1].split(",")[0]) > 1e9
