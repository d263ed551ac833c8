"""What is known of the test cloud's own tests."""

import json
from pathlib import Path

import pytest
from tests.support.suite import proven
from tests.support.suite.closure import closure
from tests.support.suite.groups import CHECKOUT

TEST = "tests/unit/test_a.py"


def test_a_closure_holds_what_is_imported_by_what_is_imported() -> None:
    found = {str(path.relative_to(CHECKOUT)) for path in closure([Path(__file__).resolve()])}
    assert found >= {"tests/support/suite/proven.py", "tests/support/suite/closure.py", "tests/support/suite/groups.py"}
    assert "tests/conftest.py" not in found


def test_packages_of_an_imported_module_belong_to_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from plimsoll.adapters.providers.ssh.target import Target\nimport os.path\n")
    found = {str(path.relative_to(CHECKOUT)) for path in closure([tmp_path / "a.py"]) - {tmp_path / "a.py"}}
    assert found >= {
        f"include/plimsoll/{name}.py"
        for name in ("__init__", "adapters/providers/ssh/__init__", "adapters/providers/ssh/target")
    }


def test_the_clouds_own_tests_import_nothing_of_the_product() -> None:
    own = {str(file.relative_to(CHECKOUT / "tests")) for file in proven.own_tests()}
    assert {"integration/cloud/test_hosts.py", "integration/cloud/test_loopback.py"} <= own
    assert "integration/cloud/test_provider.py" not in own


@pytest.fixture
def checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """With a file of the test cloud, one test, and the files that every test runs under; nothing is proven yet."""
    (tmp_path / "tests" / "unit").mkdir(parents=True)
    (tmp_path / "cloud").mkdir()
    lock, project, conftest = (tmp_path / name for name in ("lock.txt", "pyproject.toml", "tests/conftest.py"))
    for path in (tmp_path / TEST, tmp_path / "cloud" / "cloud.py", lock, project, conftest):
        path.write_text("")
    record = tmp_path / "cloud" / "proven.json"
    places = {"CHECKOUT": tmp_path, "CLOUD": record.parent, "LOCK_FILE": lock, "RECORD": record}
    for name, value in {**places, "EVERYWHERE": (project, conftest)}.items():
        monkeypatch.setattr(proven, name, value)
    fresh(monkeypatch)
    return tmp_path


@pytest.mark.parametrize("changed", [TEST, "cloud/cloud.py", "lock.txt", "pyproject.toml", "tests/conftest.py"])
def test_a_test_is_proven_until_something_changes_that_it_depends_on(checkout: Path, changed: str) -> None:
    assert not proven.is_proven(checkout / TEST)

    prove(checkout)
    assert proven.is_proven(checkout / TEST)

    (checkout / changed).write_text("# another\n")
    assert not proven.is_proven(checkout / TEST)


def test_what_is_proven_with_one_python_is_not_with_another(monkeypatch: pytest.MonkeyPatch, checkout: Path) -> None:
    monkeypatch.setattr(proven, "PYTHON", "3.11")
    prove(checkout)
    assert proven.is_proven(checkout / TEST)

    monkeypatch.setattr(proven, "PYTHON", "3.14")
    assert not proven.is_proven(checkout / TEST)


def prove(checkout: Path) -> None:
    """Record the test as passed."""
    proven.RECORD.write_text(json.dumps({TEST: proven.digest(checkout / TEST)}))


def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read everything anew; what was read here is forgotten after the test."""
    for function in (proven._content, proven._recorded):
        monkeypatch.setattr(proven, function.__name__, getattr(function, "__wrapped__", function))
