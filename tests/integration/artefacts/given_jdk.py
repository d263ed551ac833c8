"""A JDK that a person put into the cache: a script that says what it is."""

from pathlib import Path

FAKE_JAVA = """#!/bin/sh
echo '    java.runtime.version = {version}'
echo '{name}'
echo 'java.base@11'
"""


def given(cache: Path, jdk_id: str, *, version: str, name: str) -> None:
    """Put it there."""
    program = cache / "given" / jdk_id / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(FAKE_JAVA.format(version=version, name=name))
    program.chmod(0o755)
