"""What the JSON API says."""

import asyncio
import json
import socket
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from fastapi import FastAPI, Response
from fastapi.responses import StreamingResponse
from starlette.types import Message
from tests.airflow.web.app import CAMPAIGN, Client, token_of
from tests.airflow.web.serving import served
from tests.fakes.installation import Installation
from tests.support.processes import until

from plimsoll.domain.attempt.status import AttemptProgress
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.text.errors import StoreError
from plimsoll.ports.store import BLOCK_BYTES
from plimsoll.services.store import layout
from plimsoll_airflow.web import content

API = "/plimsoll/api/v1"
HERE = f"{API}/campaigns/{CAMPAIGN}"
READER = SimpleAuthManagerUser(username="the viewer", role="viewer")
FOLDER = f"{CAMPAIGN}/cells/v1-001k-r1/1/raw/load"

pytestmark = pytest.mark.usefixtures("campaign")


def test_a_campaign_is_told_cell_by_cell(client: Client) -> None:
    status = client("viewer").get(HERE).json()

    assert {cell["id"]: cell["state"] for cell in status["matrix"]} == {
        "v1-001k-r1": "met",
        "v1-002k-r1": "missed",
        "v2-001k-r1": "invalid",
        "v2-002k-r1": "failed",
        "v3-001k-r1": "running",
        "v3-002k-r1": "waiting",
    }
    assert (status["state"], status["cells"], status["counts"]["met"]) == ("running", 6, 1)


def test_campaigns_are_listed_and_filtered(client: Client) -> None:
    viewer = client("viewer")

    assert [one["campaign_id"] for one in viewer.get(f"{API}/campaigns?state=running&definition=demo").json()] == [
        CAMPAIGN
    ]
    assert viewer.get(f"{API}/campaigns?state=complete").json() == []
    assert viewer.get(f"{API}/campaigns?definition=other").json() == []


def test_a_cell_has_its_attempts_with_phases_and_verdict(client: Client) -> None:
    document = client("viewer").get(f"{HERE}/cells/v1-002k-r1").json()

    (attempt,) = document["attempts"]
    assert (attempt["state"], attempt["run_id"]) == ("missed", "demo-mine__v1-002k-r1")
    assert [phase["phase"] for phase in attempt["phases"]][:2] == ["provision", "deploy"]
    assert attempt["phases"][0]["seconds"] == 2.0
    assert attempt["verdict"]["levels"][0]["missed"] > 0


def test_a_running_cell_tells_how_its_service_levels_fare(client: Client, campaign: Installation) -> None:
    viewer, place = client("viewer"), f"{HERE}/cells/v3-001k-r1/live"
    before = viewer.get(place).json()
    level = {"level": "99.9/10s/100ms", "judged": 3, "missed": 1, "last_ms": 20.5, "worst_ms": 151.25}
    key = AttemptKey(campaign_id=CAMPAIGN, cell_id="v3-001k-r1", attempt=1)
    layout.PROGRESS.write(campaign.toolkit.store, key, AttemptProgress.model_validate({**before, "levels": [level]}))

    assert before["phase"] == "load"
    assert "levels" not in before
    assert viewer.get(place).json() == {**before, "levels": [level]}
    assert viewer.get(f"{HERE}/cells/v1-001k-r1/live").json() is None
    assert viewer.get(f"{HERE}/cells/none-1-r1/live").status_code == 404


def test_an_attempt_names_its_files_and_gives_them(client: Client) -> None:
    viewer, place = client("viewer"), f"{HERE}/cells/v1-001k-r1/attempts/1"

    files = viewer.get(place).json()["files"]
    answer = viewer.get(f"{place}/files/raw/load/load.hdr")

    assert files["raw/load/load.hdr"] == 19
    assert answer.content == b"#[a histogram log]\n"
    assert answer.headers["content-disposition"] == 'attachment; filename="v1-001k-r1-1-raw-load-load.hdr"'


def test_a_large_file_is_sent_without_reading_it_whole(client: Client, campaign: Installation) -> None:
    name = "größer.bin"
    (Path(campaign.toolkit.store.url()) / FOLDER / name).parent.mkdir(exist_ok=True)
    with (Path(campaign.toolkit.store.url()) / FOLDER / name).open("wb") as sparse:
        sparse.truncate(200 * BLOCK_BYTES)
    answer = content.download(campaign.toolkit.store, FOLDER, name, READER)
    assert isinstance(answer, StreamingResponse)

    async def send() -> int:
        return sum([len(block) async for block in answer.body_iterator])

    tracemalloc.start()
    try:
        taken = asyncio.run(send())
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (taken, answer.headers["content-disposition"]) == (200 * BLOCK_BYTES, 'attachment; filename="gr--er.bin"')
    assert most < 5 * BLOCK_BYTES


def test_so_many_files_are_sent_at_once_and_no_more(client: Client, campaign: Installation) -> None:
    viewer, place = client("viewer"), f"{HERE}/cells/v1-001k-r1/attempts/1/files/raw/load/load.hdr"

    def begun(user: str) -> Response:
        reader = SimpleAuthManagerUser(username=user, role="viewer")
        return content.download(campaign.toolkit.store, FOLDER, "load.hdr", reader)

    sent = [begun(READER.username) for _ in range(content.DOWNLOADS_OF_ONE_USER)]
    refused = viewer.get(place)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "10")
    assert "ask again" in refused.json()["detail"]
    assert client("admin").get(place).status_code == 200
    sent += [begun(str(number)) for number in range(content.DOWNLOADS_AT_ONCE - len(sent))]
    assert client("admin").get(place).status_code == 503
    del sent[0]  # whoever asked has gone
    assert [viewer.get(place).status_code for _ in range(3)] == [200, 200, 200]


def test_who_takes_nothing_keeps_nobody_out(
    airflow_app: FastAPI, client: Client, campaign: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, place = "sparse.bin", f"{HERE}/cells/v1-001k-r1/attempts/1/files/raw/load"
    with (Path(campaign.toolkit.store.url()) / FOLDER / name).open("wb") as sparse:
        sparse.truncate(64 * BLOCK_BYTES)
    monkeypatch.setattr(content, "LONGEST_BLOCK_S", 0.1)
    monkeypatch.setattr(content, "DOWNLOADS_AT_ONCE", 1)
    with served(airflow_app) as url:
        address = urlsplit(url)
        request = f"GET {place}/{name} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token_of('viewer')}\r\n\r\n"
        with socket.create_connection((str(address.hostname), int(address.port or 0))) as reader:
            reader.sendall(request.encode())
            assert reader.recv(12, socket.MSG_WAITALL) == b"HTTP/1.1 200"
            until(lambda: client("viewer").get(f"{place}/load.hdr").status_code == 200, "the reader to be given up")
            reader.shutdown(socket.SHUT_WR)
            last = b""
            while piece := reader.recv(BLOCK_BYTES):
                last = piece
    assert not last.endswith(b"0\r\n\r\n"), "a part of the file looks like all of it"


def test_what_the_store_does_not_give_to_the_end_never_looks_whole() -> None:
    def blocks(_: str) -> Iterator[bytes]:
        yield b"first"
        raise StoreError("it is gone")

    store: Any = SimpleNamespace(keys=lambda _: [f"{FOLDER}/load.hdr"], blocks=blocks)
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    scope = {"type": "http", "asgi": {"spec_version": "2.4"}}
    asyncio.run(content.download(store, FOLDER, "load.hdr", READER)(scope, receive, send))
    assert [one.get("more_body") for one in sent] == [None, True]


def test_a_large_body_is_not_taken_whoever_sends_it(client: Client) -> None:
    for sender in (client(), client("admin")):
        answer = sender.post(f"{HERE}/runs", content=b" " * (300 << 10), headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["detail"]) == (413, "the request's body is larger than 256 KiB")


@pytest.mark.parametrize(
    "name",
    [
        "../2/verdict.json",
        "..%2f..%2f..%2fdefinition.yaml",
        "%2e%2e/%2e%2e/%2e%2e/definition.yaml",
        "raw/../../../../definition.yaml",
        "/etc/passwd",
        "raw//load/load.hdr",
        "raw",
        "raw/load/load.hdr%00",
        "C:%5cwindows",
    ],
)
def test_no_name_leads_out_of_an_attempt_or_a_report(client: Client, name: str) -> None:
    for place in (f"{HERE}/cells/v1-001k-r1/attempts/1/files", f"{HERE}/report"):
        answer = client("admin").get(f"{place}/{name}")

        assert answer.status_code in (404, 422)
        assert b"variants" not in answer.content


@pytest.mark.parametrize("campaign", ["..", "%2e%2e", "Demo", "demo_mine", "a" * 101, "demo-mine%2f..%2fother"])
def test_no_campaign_is_looked_for_by_an_odd_name(client: Client, campaign: str) -> None:
    answer = client("admin").get(f"{API}/campaigns/{campaign}/capacity")

    assert answer.status_code in (404, 422)


def test_capacity_is_told_with_how_firm_it_is(client: Client) -> None:
    first, *others = client("viewer").get(f"{HERE}/capacity").json()

    assert (first["variant"], first["kind"], first["capacity_ops_s"]) == ("v1", "found", 1000)
    assert {one["kind"] for one in others} == {"unknown"}


def test_a_plan_is_shown_and_starts_nothing(client: Client, campaign: Installation) -> None:
    before = list(campaign.toolkit.store.keys(""))

    plan = client("viewer").get(f"{API}/definitions/demo/plan?parallel=2").json()

    assert (plan["totals"]["cells"], plan["totals"]["parallel"]) == (6, 2)
    assert list(campaign.toolkit.store.keys("")) == before


def test_definitions_are_listed(client: Client) -> None:
    assert client("viewer").get(f"{API}/definitions").json() == [{"name": "demo", "dag_id": "demo"}]


def test_report_files_are_listed_and_given_once_published(client: Client, campaign: Installation) -> None:
    viewer = client("viewer")
    assert viewer.get(f"{HERE}/report").json() == []

    campaign.toolkit.store.write(f"{layout.REPORT_FILES.folder(CAMPAIGN)}/charts/maxima.svg", b"<svg/>")

    assert viewer.get(f"{HERE}/report").json() == ["charts/maxima.svg"]
    answer = viewer.get(f"{HERE}/report/charts/maxima.svg")
    assert (answer.content, answer.headers["content-type"]) == (b"<svg/>", "image/svg+xml")
    assert "attachment" in answer.headers["content-disposition"]


@pytest.mark.parametrize(
    ("path", "status", "detail"),
    [
        ("campaigns/other", 404, "there is no campaign 'other'"),
        (f"campaigns/{CAMPAIGN}/cells/v9-001k-r1", 404, "has no cell 'v9-001k-r1'"),
        (f"campaigns/{CAMPAIGN}/cells/v1-001k-r1/attempts/7", 404, "there is no attempt 7"),
        (f"campaigns/{CAMPAIGN}/cells/v3-001k-r1/attempts/1/files/raw/x", 404, "there is no such file"),
        ("definitions/other/plan", 404, "there is no definition 'other'"),
        ("definitions/demo/plan?parallel=0", 422, "the request can't be read"),
        ("campaigns?state=odd", 422, "the request can't be read"),
    ],
)
def test_errors_are_problem_documents_that_say_how_to_mend_them(
    client: Client, path: str, status: int, detail: str
) -> None:
    answer = client("viewer").get(f"{API}/{path}")

    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    problem = answer.json()
    assert (problem["status"], problem["detail"]) == (status, detail)
    assert problem["mend"] or problem["problems"]


def test_the_openapi_document_names_every_route_of_the_api_and_its_errors(client: Client) -> None:
    document = client("viewer").get(f"{API}/openapi.json").json()

    assert f"{API}/campaigns/{{campaign_id}}".removeprefix("/plimsoll") in document["paths"]
    assert all(path.startswith("/api/v1/") for path in document["paths"])
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["security"], (method, path)
            assert "application/problem+json" in operation["responses"]["404"]["content"], (method, path)
    assert "CampaignStatus" in json.dumps(document["components"])
    assert document["servers"] == [{"url": "/plimsoll"}]
