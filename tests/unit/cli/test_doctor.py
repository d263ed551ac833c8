"""What `plimsoll doctor` says of a machine that can run campaigns and is busy with others' work."""

import pytest
from typer.testing import CliRunner

from plimsoll.adapters.hosts import machine
from plimsoll.cli import cli
from plimsoll.domain.keys.host_bounds import HostActivity

BUSY = HostActivity(0.76, 0.0, None, 8e9, (("yes(77)", 0.76),))


def test_a_busy_machine_is_a_note_and_nothing_to_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "activity_now", lambda: BUSY)
    monkeypatch.setattr(machine, "examine", lambda work, cache, ports, memory: [machine.calm()])  # noqa: ARG005
    result = CliRunner().invoke(cli, ["doctor"])
    assert result.exit_code == 0
    first, second = result.output.splitlines()
    assert first.startswith("NOTE  calm: load ")
    assert first.endswith("76% in use, 0% stolen: other programs take 76% of its processors (yes(77) 76%)")
    assert "end other programs before you measure" in second


def test_a_calm_machine_is_told_with_its_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "activity_now", lambda: HostActivity(0.03, 0.0, None, 8e9))
    found = machine.calm()
    assert (found.ok, found.is_note) == (True, False)
    assert found.found.endswith("3% in use, 0% stolen")


def test_a_machine_that_is_too_small_for_the_demo_is_told_so_as_the_plan_tells_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "examine", lambda work, cache, ports, memory: [machine.memory_in_all(memory, work)])  # noqa: ARG005
    monkeypatch.setattr(machine, "memory_bytes", lambda _: 7167 << 20)
    result = CliRunner().invoke(cli, ["doctor"])
    assert result.exit_code == 1
    assert result.output.splitlines()[0] == "MEND  memory in all: 7167 MiB, of which the demo needs 7168 MiB"
    monkeypatch.setattr(machine, "memory_bytes", lambda _: 7168 << 20)
    assert CliRunner().invoke(cli, ["doctor"]).exit_code == 0
