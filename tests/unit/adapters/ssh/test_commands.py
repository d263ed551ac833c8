"""Command lines, read back by the shell's own rules."""

import shlex
import subprocess
from pathlib import PurePosixPath
from typing import Any

import pytest

from plimsoll.adapters.providers.ssh import execution

ODD = ["$(id)", "`id`", "; rm -rf /", "it's", 'say "so"', "a\nb", "", "*", "~", "-n", "!x", "\\", "ü"]
ROOT = PurePosixPath("/srv/it's a folder")


def words(line: Any) -> Any:
    """What the inner shell is given, after the login shell has read the line."""
    exec_, shell, option, script = shlex.split(line)
    assert (exec_, shell, option) == ("exec", "/bin/sh", "-c")
    return shlex.split(script)


@pytest.mark.parametrize("word", ODD)
def test_every_word_survives_both_shells(word: Any) -> None:
    line = execution.run_command(["printf", "%s", word], [ROOT], {"MARK": word}, 5)
    assert word in words(line)
    assert f"MARK={word}" in words(line)
    assert str(ROOT) in words(line)


@pytest.mark.parametrize("word", ODD)
def test_a_real_shell_reads_it_so(word: Any) -> None:
    line = execution.in_shell(f"printf %s {execution.quoted(word)}")
    assert subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=True).stdout == word


def test_the_host_keeps_the_time() -> None:
    assert "timeout -s KILL 1.500 sleep 9" in " ".join(words(execution.run_command(["sleep", "9"], [ROOT], {}, 1.5)))


def test_only_a_few_variables_are_passed_on() -> None:
    script = " ".join(words(execution.run_command(["env"], [ROOT], {}, 5)))
    assert "env -i" in script
    assert "HOME=$HOME" in script
    assert "JAVA" not in script


def test_scripts_run_isolated() -> None:
    line = words(execution.script_command("print(1)", "an argument"))
    assert line == ["exec", "python3", "-I", "-S", "-B", "-c", "print(1)", "an argument"]


DF = "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/x 100 {used} {free} 1% /\n"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (DF.format(used=100, free=0), "No space left on device"),
        (DF.format(used=10, free=90), "90 KiB of disk are free there"),
        ("", "how much disk is free there is not known"),
    ],
)
def test_free_space_in_words(answer: str, said: str) -> None:
    assert execution.free_space(answer) == said
