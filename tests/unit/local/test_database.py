"""What is said of the embedded PostgreSQL where its programs fail; the real one is tested with the stack."""

from pathlib import Path

import pytest

from plimsoll_airflow.local import database
from plimsoll_airflow.local.home import Home, StackError


def test_a_program_that_does_not_end_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path / "airflow")
    home.create()
    hangs = tmp_path / "psql"
    hangs.write_text("#!/bin/sh\nexec sleep 600\n")
    hangs.chmod(0o755)
    monkeypatch.setattr(database, "program", lambda _: hangs)
    monkeypatch.setattr(database, "PROGRAM_TIMEOUT_S", 0.01)
    with pytest.raises(StackError, match=r"has not ended after 0\.01 s"):
        database.execute(home, "select 1")
