"""Definitions that `plimsoll plan` and `run` refuse."""

import re
from pathlib import Path

import pytest
from tests.unit.cli.commands import INSTANT, Command

CAMPAIGNS = Path(__file__).parents[3] / "include" / "campaigns"


def test_a_provider_that_does_not_exist_is_refused_with_the_name_that_was_meant(
    plimsoll: Command, tmp_path: Path
) -> None:
    (tmp_path / "typo.yaml").write_text(INSTANT.replace("{name: instant}\nmax", "{name: instnat}\nmax"))
    code, out, err = plimsoll("plan", tmp_path / "typo.yaml")
    assert code == 2
    assert "4 cells" in out
    assert "provider.name (line 44): there is no 'instnat' here (did you mean 'instant'? there is: instant)" in err


def test_a_schedule_that_can_not_be_kept_is_refused_with_its_line(plimsoll: Command, tmp_path: Path) -> None:
    (tmp_path / "cron.yaml").write_text(f"{INSTANT}schedule: 61 6 * * *\n")
    code, _, err = plimsoll("plan", tmp_path / "cron.yaml")
    assert code == 2
    assert "schedule (line 46): '61 6 * * *' is no cron expression (write five fields: minute, hour" in err
    code, _, err = plimsoll("run", tmp_path / "cron.yaml")
    assert (code, "schedule (line 46)" in err) == (2, True)


@pytest.mark.parametrize(
    ("written", "mend"),
    [
        ("CEST", "write the name of a place in the IANA database, such as Europe/Berlin"),  # no more than EST
        ("GMT+2", "write the name of a place in the IANA database, such as Europe/Berlin"),  # Etc/GMT+2 is west
        ("Europe/Munich", "write the name of a place in the IANA database, such as Europe/Berlin"),
        ("Berlin", "write Europe/Berlin"),
        ("America/New York", "write America/New_York"),
        ("Europe/Berln", "write Europe/Berlin"),
    ],
)
def test_a_time_zone_is_suggested_only_for_the_place_that_is_named(
    plimsoll: Command, tmp_path: Path, written: str, mend: str
) -> None:
    (tmp_path / "zone.yaml").write_text(f"{INSTANT}schedule: 0 6 * * *\ntimezone: {written}\n")
    code, _, err = plimsoll("plan", tmp_path / "zone.yaml")
    assert code == 2
    assert f"timezone (line 47): {written!r} is no time zone ({mend}" in err


def test_loads_that_are_not_run_as_written_are_told(plimsoll: Command, tmp_path: Path) -> None:
    (tmp_path / "over.yaml").write_text(
        re.sub(r"(?m)^loads: .*", "loads: {from: 100/s, to: 450/s, step: 100/s}", INSTANT)
    )
    code, out, _ = plimsoll("plan", tmp_path / "over.yaml")
    assert code == 0
    assert "loads end at 400/s" in " ".join(out.split())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("latin.yaml", "title: Müller".encode("latin1"), "line 1: is not UTF-8 text: the byte 0xfc stands here"),
        ("marked.yaml", "title: Müller".encode("utf-16"), "the whole file: is UTF-16 text"),
        ("unmarked.yaml", "title: Müller".encode("utf-16-be"), "the whole file: is UTF-16 text"),
        ("empty.yaml", b"", "the whole file: is empty (write at least the keys name, title, system"),
        ("large.yaml", b"#" * (1 << 21), "the whole file: is larger than 1 MiB"),
        ("bytes.yaml", b"\x00\x01", "is not YAML: a character stands in it that no text has"),
    ],
)
def test_files_that_hold_no_definition_end_in_a_message(
    plimsoll: Command, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    for command in ("plan", "run", "import"):
        code, _, err = plimsoll(command, tmp_path / name)
        assert code == 2
        assert message.partition(" (")[0] in err


def test_a_folder_and_a_name_that_is_nearly_right_are_told_apart(plimsoll: Command, tmp_path: Path) -> None:
    assert "is a folder" in plimsoll("plan", tmp_path)[2]
    assert "there is no definition 'dem'\n  To mend it: did you mean 'demo'?" in plimsoll("plan", "dem")[2]


def test_options_that_can_not_be_read_are_refused_without_a_price(
    plimsoll: Command, cloud: None, tmp_path: Path
) -> None:
    azul = (CAMPAIGNS / "azul-2022.yaml").read_text()
    (tmp_path / "moon.yaml").write_text(azul.replace("region: us-east-1", "region: moon"))
    code, out, err = plimsoll("plan", tmp_path / "moon.yaml")
    assert (code, out) == (2, "")
    assert "provider.options.region" in err


def test_a_wrong_definition_is_refused_with_exit_code_2(plimsoll: Command, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(INSTANT.replace("repeats: 1", "repeats: 0"))
    code, out, err = plimsoll("plan", tmp_path / "bad.yaml")
    assert code == 2
    assert out == ""
    assert "bad.yaml: refused" in err
    assert "repeats" in err


def test_an_unknown_definition_lists_those_there_are(plimsoll: Command) -> None:
    code, _, err = plimsoll("plan", "nothing")
    assert code == 2
    shipped = sorted(path.stem for path in CAMPAIGNS.glob("*.yaml"))
    assert "local-actions" in shipped
    assert ", ".join(shipped) in err


def test_a_store_that_cannot_be_written_is_refused_by_plan(
    plimsoll: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "file" / "store"))
    code, _, err = plimsoll("plan", tmp_path / "instant.yaml")
    assert code == 2
    assert "PLIMSOLL_STORE" in err
