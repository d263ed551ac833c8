"""What is known of the test cloud's own tests."""

import json
from pathlib import Path

import pytest
from tests.support.suite import proven
from tests.support.suite.closure import closure
from tests.support.suite.groups import CHECKOUT


def test_a_closure_holds_what_is_imported_by_what_is_imported() -> None:
    found = {str(path.relative_to(CHECKOUT)) for path in closure([Path(__file__).resolve()])}
    assert found >= {"tests/support/suite/proven.py", "tests/support/suite/closure.py", "tests/support/suite/groups.py"}
    assert "tests/conftest.py" not in found


def test_packages_of_an_imported_module_belong_to_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from plimsoll.adapters.ssh.target import Target\nimport os.path\n")
    found = {str(path.relative_to(CHECKOUT)) for path in closure([tmp_path / "a.py"]) - {tmp_path / "a.py"}}
    assert found >= {
        f"include/plimsoll/{name}.py" for name in ("__init__", "adapters/ssh/__init__", "adapters/ssh/target")
    }


def test_the_clouds_own_tests_import_nothing_of_the_product() -> None:
    own = {str(file.relative_to(CHECKOUT / "tests")) for file in proven.own_tests()}
    assert {"integration/cloud/test_hosts.py", "integration/cloud/test_loopback.py"} <= own
    assert "integration/cloud/test_provider.py" not in own


def test_a_test_is_proven_until_something_of_the_cloud_changes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "unit"
    folder.mkdir(parents=True)
    file, cloud, lock = folder / "test_a.py", tmp_path / "cloud.py", tmp_path / "lock.txt"
    for path in (file, cloud, lock):
        path.write_text("")
    record = tmp_path / "proven.json"
    for name, value in {"CHECKOUT": tmp_path, "CLOUD": tmp_path, "LOCK_FILE": lock, "RECORD": record}.items():
        monkeypatch.setattr(proven, name, value)
    fresh(monkeypatch)
    assert not proven.is_proven(file)

    record.write_text(json.dumps({"tests/unit/test_a.py": proven.digest(file)}))
    fresh(monkeypatch)
    assert proven.is_proven(file)

    cloud.write_text("pass\n")
    assert not proven.is_proven(file)


def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read everything anew; what was read here is forgotten after the test."""
    for function in (proven._content, proven._recorded):
        monkeypatch.setattr(proven, function.__name__, getattr(function, "__wrapped__", function))
