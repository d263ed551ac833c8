import subprocess
from pathlib import Path

from plimsoll.adapters.generators.foreign_load import Command, Ending, script


def run(folder: Path, *commands: Command) -> int:
    (folder / "commands.sh").write_text(script(commands))
    return subprocess.run(["/bin/sh", "commands.sh"], cwd=folder, check=False, timeout=60).returncode


def ending(folder: Path, name: str) -> Ending | None:
    path = folder / f"{name}.end"
    return Ending.parse(path.read_text() if path.exists() else "")


def test_commands_run_one_after_the_other_and_leave_what_they_printed_and_how_they_ended(tmp_path: Path) -> None:
    assert run(tmp_path, Command("populate", ("echo", "rows")), Command("load", ("sh", "-c", "cat populate.end"))) == 0
    assert (tmp_path / "populate.console").read_text() == "rows\n"
    assert (tmp_path / "load.console").read_text().startswith("exit 0\n")
    found = ending(tmp_path, "load")
    assert found is not None
    assert (found.exit_code, found.cpu_s is not None) == (0, True)


def test_nothing_runs_after_a_command_that_failed(tmp_path: Path) -> None:
    assert run(tmp_path, Command("populate", ("sh", "-c", "exit 3")), Command("load", ("touch", "ran"))) == 3
    failed = ending(tmp_path, "populate")
    assert failed is not None
    assert failed.exit_code == 3
    assert ending(tmp_path, "load") is None
    assert not (tmp_path / "ran").exists()


def test_no_word_of_a_command_is_the_shells(tmp_path: Path) -> None:
    run(tmp_path, Command("load", ("printf", "%s", "$(touch ran); `touch ran` 'a' \"b\" > ran")))
    assert (tmp_path / "load.console").read_text() == "$(touch ran); `touch ran` 'a' \"b\" > ran"
    assert not (tmp_path / "ran").exists()


def test_processor_time_is_that_of_the_command_and_its_children() -> None:
    found = Ending.parse("exit 0\nseconds 40\n1m2.500s 0m7.500s\n")
    assert found is not None
    assert (found.cpu_s, found.cpu_cores) == (70.0, 1.75)


def test_an_end_that_is_not_written_is_none() -> None:
    assert Ending.parse("") is None
