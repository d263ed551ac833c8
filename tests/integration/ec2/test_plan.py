"""`plimsoll plan` against a test cloud: what it refuses with what, where and how to mend, and what it says of money."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cloud.cloud import Cloud, aws_environment, running_cloud
from tests.cloud.faults import Deny, NoAddresses
from tests.support.campaigns.ec2_definition import ec2_definition
from tests.support.ssh.command import keygen

from plimsoll import cli
from plimsoll.bootstrap import full_toolkit
from plimsoll.domain.campaign.specs import LoadSpec, ProductSpec
from plimsoll.domain.keys.process import Process
from plimsoll.domain.keys.variant import Download, Variant
from plimsoll.domain.text.errors import Problem
from plimsoll.services.definitions.reference import dump_definition
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

Plan = Callable[..., tuple[int, str, str]]


class Ready:
    """A product or a load generator whose artefacts are all there."""

    can_end_early = can_close_loop = True
    ports: Sequence[int] = ()

    def check(self, spec: ProductSpec | LoadSpec) -> Sequence[Problem]:
        return ()

    def unchecked(self, spec: ProductSpec | LoadSpec) -> Sequence[str]:
        return ()

    def downloads(self, spec: ProductSpec | LoadSpec) -> Sequence[Download]:
        return ()

    def limits(self, spec: LoadSpec) -> Sequence[str]:
        return ()

    def processes(self, variant: Variant) -> Sequence[Process]:
        return ()

    def processors(self, load_ops_s: int) -> float | None:
        return None


def toolkit(settings: Settings) -> Toolkit:
    """Return all that is real, but for what cells need beside hosts."""
    ready: Any = Ready()
    others: dict[str, Any] = {"products": {"cassandra": ready}, "load_generators": {"plimsoll-stress": ready}}
    return replace(full_toolkit(settings), **others)


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    with running_cloud("instant") as cloud:
        yield cloud


@pytest.fixture
def plan(
    cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Plan]:
    """Plan the definition with those changes to its options, with those variables: exit code, output, errors."""

    def run(
        *arguments: str, budget: float | None = None, environment: Any = (), **changes: Any
    ) -> tuple[int, str, str]:
        file = tmp_path / "azul.yaml"
        file.write_text(dump_definition(ec2_definition(cloud.landscape, budget, **changes)))
        settings = {
            **aws_environment(cloud.endpoint),
            "PLIMSOLL_TOOLKIT": f"{__name__}:{toolkit.__name__}",
            "PLIMSOLL_STORE": f"s3://{cloud.landscape.bucket}/runs",
            "PLIMSOLL_CACHE": str(tmp_path / "cache"),
            "PLIMSOLL_SSH_KEY": str(tmp_path / "id"),
            **dict(environment),
        }
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.argv", ["plimsoll", "plan", str(file), *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.app()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    keygen(tmp_path / "id")
    yield run
    cloud.clear()


def test_a_sound_definition_is_planned_with_its_cost_hours_and_vcpus(plan: Plan) -> None:
    code, out, _ = plan("--json", budget=100.0)
    planned = json.loads(out)
    [advice] = planned["notes"]
    assert (code, planned["problems"], advice.split(" ends ")[0]) == (0, [], "`timing: {stop: decided}`")
    assert planned["totals"]["vcpus"] == 3 * 32
    assert planned["totals"]["cell_hours"] == 7.5
    assert planned["cost"]["usd"] == pytest.approx(7.5 * (3 * 0.576 + 0.34))
    assert planned["cost"]["tariff"]["source"].startswith("AWS Pricing API, asked on 20")


def test_people_see_it_with_the_table_where_the_api_may_not_be_asked(plan: Plan, cloud: Cloud) -> None:
    cloud.fault(Deny(action="GetProducts"))
    code, out, _ = plan(budget=10.0)
    assert code == 0
    assert "Estimated cost of the hosts under load: 15.51 USD" in out
    assert "96 vCPUs at once" in out
    assert "Prices: price table of 2026-07-20 (USD per hour, on demand" in out
    assert "Budget: 10.00 USD, less than the estimate: not all cells will run" in out


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"region": "eu-west-1"}, ["provider.options.subnets (line ", "NotFound", "name subnets of the region"]),
        ({"image": "ami-0123456789abcdef0"}, ["provider.options.image (line ", "images differ by region"]),
        (
            {"image": "/no/such/parameter"},
            ["options.image (line ", "name an SSM parameter that the region has"],
        ),
        ({"instance_types": {"node": "r5d.huge", "load": "c5.2xlarge"}}, ["instance_types.node (line ", "r5d.huge"]),
    ],
)
def test_what_is_not_there_is_refused(plan: Plan, changes: Any, said: list[str]) -> None:
    code, _, err = plan(**changes)
    assert code == 2
    for words in said:
        assert words in err


def test_a_subnet_without_addresses_is_refused(plan: Plan, cloud: Cloud) -> None:
    full = cloud.landscape.subnets["us-east-1b"]
    cloud.fault(NoAddresses(subnet=full))
    code, _, err = plan()
    assert code == 2
    assert f": {full} in us-east-1b has 0 free addresses, a cell takes 4" in err


@pytest.mark.parametrize(
    ("action", "allow"),
    [
        ("RunInstances", "allow the action ec2:RunInstances; docs/guides/aws.md"),
        ("CreatePlacementGroup", "allow the action ec2:CreatePlacementGroup; docs/guides/aws.md"),
        ("GetParameter", "allow the action ssm:GetParameter; docs/guides/aws.md"),
        ("PutObject", "allow the connection's user this action on the bucket; docs/guides/aws.md"),
    ],
)
def test_a_missing_permission_is_refused_and_names_what_to_allow(
    plan: Plan, cloud: Cloud, action: str, allow: str
) -> None:
    cloud.fault(Deny(action=action))
    code, _, err = plan()
    assert code == 2
    assert allow in err


def test_a_bucket_that_does_not_exist_is_refused(plan: Plan) -> None:
    code, _, err = plan(environment={"PLIMSOLL_STORE": "s3://nobodys-bucket/runs"})
    assert code == 2
    assert "store s3://nobodys-bucket/runs" in err
    assert "make the bucket, or name another one in PLIMSOLL_STORE" in err


def test_an_ssh_key_that_is_none_is_refused_and_not_shown(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("no key, but secret")
    code, _, err = plan(environment={"PLIMSOLL_SSH_KEY": str(tmp_path / "other")})
    assert code == 2
    assert "provider.options.ssh_connection (line " in err
    assert "secret" not in err


def test_without_credentials_the_plan_says_that_nothing_was_checked(plan: Plan, tmp_path: Path) -> None:
    nothing = {"AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"), "AWS_CONFIG_FILE": str(tmp_path / "none")}
    store = {"PLIMSOLL_STORE": str(tmp_path / "store"), "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
    code, out, _ = plan("--json", environment={**nothing, **store})
    [note] = [one for one in json.loads(out)["notes"] if "nothing was checked with it" in one]
    assert code == 0
    assert "no AWS credentials" in note
