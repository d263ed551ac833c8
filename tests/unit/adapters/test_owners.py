import subprocess
from pathlib import Path

from plimsoll.adapters.hosts.processes import LocalProcesses
from plimsoll.domain.hosts.owner import ProcessOwner, owner_words

HERE = LocalProcesses()


def test_this_process_is_alive_and_survives_its_token() -> None:
    mine = ProcessOwner.parse(HERE.me())
    assert mine is not None
    assert mine.token == HERE.me()
    assert owner_words(HERE.me()) == f"process {mine.pid} on {mine.host}"
    assert HERE.is_alive(HERE.me()) is True


def test_a_process_that_has_ended_is_not_alive_not_even_while_nobody_has_buried_it() -> None:
    mine = ProcessOwner.parse(HERE.me())
    assert mine is not None
    with subprocess.Popen(["sleep", "60"]) as child:
        ticks = int(Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[19])
        token = mine.model_copy(update={"pid": child.pid, "started": ticks}).token
        assert HERE.is_alive(token) is True
        child.kill()
        while HERE.is_alive(token):
            pass
        assert child.returncode is None  # a zombie
    assert HERE.is_alive(token) is False


def test_another_process_of_the_same_number_is_somebody_else() -> None:
    mine = ProcessOwner.parse(HERE.me())
    assert mine is not None
    assert HERE.is_alive(mine.model_copy(update={"started": mine.started - 1}).token) is False


def test_of_processes_elsewhere_and_of_others_nothing_is_known() -> None:
    mine = ProcessOwner.parse(HERE.me())
    assert mine is not None
    for change in ({"host": "elsewhere"}, {"boot": "another"}, {"namespace": 1}):
        assert HERE.is_alive(mine.model_copy(update=change).token) is None
    for other in ("airflow:a__b#0@here", "cli-12", "process:a/b", "process:h/b/x/y/z", ""):
        assert HERE.is_alive(other) is None


def test_a_run_is_told_by_its_name_and_an_owner_of_another_form_as_it_is() -> None:
    assert owner_words("airflow:a__b#0@lab-1") == "Airflow's run a__b, installation lab-1"
    assert owner_words("airflow-campaign:demo/m+0:1@lab-1") == "Airflow's run m+0:1 of demo, installation lab-1"
    for other in ("cli-12", "process:a/b", "process:h/b/x/y/z", ""):
        assert owner_words(other) == other
