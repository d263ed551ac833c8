"""Tests of the test cloud alone are left out of `make test` while their content is what it was when they last passed.

Content is the test file with all that it imports, whatever belongs to the cloud, and the lock file of what is
installed. tests/cloud/proven.json holds its digests. `make test-long` writes them when all tests have passed, and
`python -m tests.support.suite.proven`, which runs these alone. A test that imports the product, too, always runs.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.support.suite.closure import closure
from tests.support.suite.groups import CHECKOUT
from tests.support.suite.requirements import ALL

CLOUD = CHECKOUT / "tests" / "cloud"
RECORD = CLOUD / "proven.json"
LOCK_FILE = CHECKOUT / "requirements-dev.txt"
FOLDER = CHECKOUT / "tests" / "integration" / "cloud"
LONG = "PLIMSOLL_TEST_LONG"
"""Set where everything runs: by `make test-long`."""
IS_LONG = bool(os.environ.get(LONG))
"""Whether tests run at full size; docs/performance.md says which have a small sister."""
_LEAVES_OUT = "plimsoll_leaves_out"


class Proven:
    """A plugin of pytest and of pytest-xdist. Who names tests gets them: only a run of all tests leaves some out."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """A worker is told, for it does not know what was asked for."""
        node.workerinput[_LEAVES_OUT] = _asked_for_all(node.config)

    def pytest_report_header(self, config: pytest.Config) -> list[str]:
        """Say what is left out."""
        left_out = [str(file.relative_to(CHECKOUT)) for file in own_tests() if is_proven(file)]
        if not left_out or not _asked_for_all(config):
            return []
        return [f"left out, for nothing of it has changed since it passed ({LONG}=1 runs all): {', '.join(left_out)}"]

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """After a run of everything in which all has passed, and nothing may be skipped, all of them are proven."""
        is_worker = hasattr(session.config, "workerinput")
        has_run_all = os.environ.get(LONG) and ALL and not is_worker and _names_nothing(session.config)
        if has_run_all and exitstatus == pytest.ExitCode.OK:
            record()

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave them out."""
        told = getattr(config, "workerinput", None)
        if not (_asked_for_all(config) if told is None else told[_LEAVES_OUT]):
            return
        files = {file for file in own_tests() if is_proven(file)}
        left_out = [item for item in items if item.path in files]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if item.path not in files]


def _asked_for_all(config: pytest.Config) -> bool:
    return _names_nothing(config) and not os.environ.get(LONG)


def _names_nothing(config: pytest.Config) -> bool:
    """Whether all tests are meant: no file, no words, no mark was given."""
    words = config.getoption("keyword") or config.getoption("markexpr")
    return config.args_source == pytest.Config.ArgsSource.TESTPATHS and not words


def own_tests() -> Iterator[Path]:
    """Test files that import nothing of the product."""
    product = (CHECKOUT / "include", CHECKOUT / "plugins")
    for file in sorted(FOLDER.glob("test_*.py")):
        if not any(used.is_relative_to(folder) for used in _content(file) for folder in product):
            yield file


def is_proven(file: Path) -> bool:
    """Whether it has passed with this very content."""
    return _recorded().get(str(file.relative_to(CHECKOUT))) == digest(file)


def digest(file: Path) -> str:
    """Of all files that the test depends on, with their names."""
    found = sha256()
    for path in sorted(_content(file)):
        found.update(f"{path.relative_to(CHECKOUT)}\0{sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()


@cache
def _content(file: Path) -> frozenset[Path]:
    conftest = file.with_name("conftest.py")
    cloud = [path for path in CLOUD.rglob("*") if path.is_file() and path.suffix not in {".pyc", ".md"}]
    begin = [file, LOCK_FILE, *cloud, *([conftest] if conftest.is_file() else [])]
    return frozenset(closure(begin) - {RECORD})


@cache
def _recorded() -> Mapping[str, str]:
    return json.loads(RECORD.read_text()) if RECORD.is_file() else {}


def main() -> None:
    """Run them all; write their digests when they have passed and none was skipped."""
    files = list(own_tests())
    command = [sys.executable, "-m", "pytest", *map(str, files), *sys.argv[1:]]
    done = subprocess.run(command, cwd=CHECKOUT, env={**os.environ, "PLIMSOLL_TEST_ALL": "1"}, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    record()


def record() -> None:
    """Write down that they have passed with the content that they have now."""
    digests = {str(file.relative_to(CHECKOUT)): digest(file) for file in own_tests()}
    RECORD.write_text(json.dumps(digests, indent=1) + "\n")


if __name__ == "__main__":
    main()
