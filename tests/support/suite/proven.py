"""Leave out tests of the test cloud from `make test` while their content is the same as when they last passed.

The content is the test file with all files that it imports, all files of the test cloud, the lock file of requirements,
and what all tests run under: pyproject.toml, tests/conftest.py and the version of Python. tests/cloud/proven.json has
its digests. `make test-long` writes them when all tests have passed, and so does
`python -m tests.support.suite.proven`, which runs only these tests. A test that imports the product always runs.
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
EVERYWHERE = (CHECKOUT / "pyproject.toml", CHECKOUT / "tests" / "conftest.py")
"""Files that every test runs under. What the latter imports is not meant: for some tests it imports the product."""
PYTHON = "{}.{}".format(*sys.version_info)
"""The version that runs the tests, without its patch level."""
FOLDER = CHECKOUT / "tests" / "integration" / "cloud"
LONG = "PLIMSOLL_TEST_LONG"
"""The variable that `make test-long` sets, so that everything runs."""
IS_LONG = bool(os.environ.get(LONG))
"""Whether tests run at full size. docs/contributing/tests.md says which tests also have a small size."""
_LEAVES_OUT = "plimsoll_leaves_out"


class Proven:
    """A plugin of pytest and of pytest-xdist. Only a run of all tests leaves tests out; named tests always run."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker whether tests are left out, because it does not know the arguments of the run."""
        node.workerinput[_LEAVES_OUT] = _asked_for_all(node.config)

    def pytest_report_header(self, config: pytest.Config) -> list[str]:
        """Name the tests that are left out."""
        left_out = [str(file.relative_to(CHECKOUT)) for file in own_tests() if is_proven(file)]
        if not left_out or not _asked_for_all(config):
            return []
        return [f"left out, for nothing of it has changed since it passed ({LONG}=1 runs all): {', '.join(left_out)}"]

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Record the digests after a run of everything in which all tests passed and none was skipped."""
        is_worker = hasattr(session.config, "workerinput")
        has_run_all = os.environ.get(LONG) and ALL and not is_worker and _names_nothing(session.config)
        if has_run_all and exitstatus == pytest.ExitCode.OK:
            record()

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out the tests whose content has not changed."""
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
    """Whether the run is for all tests: no file, keyword or mark was given."""
    words = config.getoption("keyword") or config.getoption("markexpr")
    return config.args_source == pytest.Config.ArgsSource.TESTPATHS and not words


def own_tests() -> Iterator[Path]:
    """The test files of the test cloud that import nothing of the product."""
    product = (CHECKOUT / "include", CHECKOUT / "plugins")
    for file in sorted(FOLDER.glob("test_*.py")):
        if not any(used.is_relative_to(folder) for used in _content(file) for folder in product):
            yield file


def is_proven(file: Path) -> bool:
    """Whether the test file has passed with its present content."""
    return _recorded().get(str(file.relative_to(CHECKOUT))) == digest(file)


def digest(file: Path) -> str:
    """A digest of the names and contents of all files that the test depends on, and of the version of Python."""
    found = sha256(f"Python {PYTHON}\n".encode())
    for path in sorted(_content(file).union(EVERYWHERE)):
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
    """Run all of these tests. Record their digests if all have passed and none was skipped."""
    files = list(own_tests())
    command = [sys.executable, "-m", "pytest", *map(str, files), *sys.argv[1:]]
    done = subprocess.run(command, cwd=CHECKOUT, env={**os.environ, "PLIMSOLL_TEST_ALL": "1"}, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    record()


def record() -> None:
    """Record the digests of all of these tests with their present content."""
    digests = {str(file.relative_to(CHECKOUT)): digest(file) for file in own_tests()}
    RECORD.write_text(json.dumps(digests, indent=1) + "\n")


if __name__ == "__main__":
    main()
