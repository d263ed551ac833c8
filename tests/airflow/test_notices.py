"""Notices go to the notifier that the environment names, or to nobody."""

import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest
from tests.airflow.reaping import DEAD, alive, reap
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.notifier import ToFile

from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll_airflow.internals.moved import AirflowFailException
from plimsoll_airflow.runs import notices

OPERATIONS = Path(__file__).resolve().parents[2] / "docs" / "guides" / "operations.md"
TO_FILE = "tests.fakes.notifier.ToFile"


def name(monkeypatch: pytest.MonkeyPatch, setting: Any) -> None:
    monkeypatch.setenv("PLIMSOLL_NOTIFIER", setting if isinstance(setting, str) else json.dumps(setting))


def told_names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """From now on notifiers send nothing; the names of those that were to."""
    notices_sent: list[str] = []
    monkeypatch.setattr("airflow.sdk.BaseNotifier.__call__", lambda self, _: notices_sent.append(type(self).__name__))
    return notices_sent


def test_without_a_setting_nobody_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLIMSOLL_NOTIFIER", raising=False)
    made = told_names(monkeypatch)
    notices.send({}, "title", "text")
    assert made == []


def test_its_templates_get_title_and_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "told"
    name(monkeypatch, {"notifier": TO_FILE, "path": str(file), "text": "{{ notice_title }}: {{ notice }} ({{ run }})"})
    notices.send({"run": "r1"}, "Reaper", "1 destroyed")
    assert file.read_text() == "Reaper: 1 destroyed (r1)\n"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("no json", "names no notifier"),
        ('"text"', "names no notifier"),
        ({"path": "/tmp/x"}, "names no notifier"),
        ({"notifier": "nowhere.Nobody"}, "names no notifier: .*nowhere"),
        ({"notifier": TO_FILE, "colour": "red"}, "names no notifier: .*colour"),
        ({"notifier": "pathlib.Path"}, "Path is no Airflow notifier"),
        ({"notifier": TO_FILE, "path": "/nowhere/told", "text": "x"}, "could not be sent: FileNotFoundError"),
    ],
)
def test_a_setting_that_can_not_work_is_said(monkeypatch: pytest.MonkeyPatch, setting: Any, message: str) -> None:
    name(monkeypatch, setting)
    with pytest.raises(notices.NoticeError, match=message):
        notices.send({}, "title", "text")


@pytest.mark.parametrize(
    ("error", "tries"),
    [(socket.gaierror("no name"), 2), (ConnectionRefusedError(), 2), (TimeoutError("perhaps it was read"), 1)],
    ids=lambda value: type(value).__name__,
)
def test_a_notice_is_sent_again_only_where_no_connection_was_made(
    monkeypatch: pytest.MonkeyPatch, error: OSError, tries: int
) -> None:
    name(monkeypatch, {"notifier": TO_FILE, "path": "/nowhere/told", "text": "{{ notice }}"})
    monkeypatch.setattr(notices, "SOON_S", (0.0,))
    tried = list[str]()

    def fail(notifier: ToFile, _: object) -> None:
        tried.append(notifier.text)
        try:
            raise error
        except OSError:  # as libraries do, whose own errors hide the one below
            raise RuntimeError("no answer")  # noqa: B904

    monkeypatch.setattr(ToFile, "notify", fail)
    with pytest.raises(notices.NoticeError, match="could not be sent: RuntimeError: no answer"):
        notices.send({"secret": "pw"}, "title", "label {{ secret }}")
    assert tried == ["label {{ secret }}"] * tries, "a text is no template, at no try"


def test_the_examples_in_the_documentation_are_notifiers(monkeypatch: pytest.MonkeyPatch) -> None:
    section = OPERATIONS.read_text().partition("## Notices")[2].partition("\n## ")[0]
    examples = [
        " ".join(found.split()) for found in re.findall(r"^    (\{.*?\}\n)$", section, re.MULTILINE | re.DOTALL)
    ]
    made = told_names(monkeypatch)
    for example in examples:
        name(monkeypatch, example)
        notices.send({}, "title", "text")
    assert made == ["SmtpNotifier", "SlackNotifier"]


def test_the_reaper_does_its_work_even_if_nobody_can_be_told(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.open_campaign(instant_definition())
    actions.provision(begin(installation.toolkit, "campaign", "v1-001k-r1", DEAD.token))
    name(monkeypatch, {"notifier": TO_FILE, "path": "/nowhere/told", "text": "x"})
    with pytest.raises(AirflowFailException, match="could not be sent"):
        reap()
    assert alive(installation) == []
