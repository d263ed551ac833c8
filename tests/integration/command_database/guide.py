"""The definitions of the guide, each as one short cell of the programs of this machine."""

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.support.campaigns.local_definition import ANY_NOISE
from tests.support.campaigns.running import run_missing
from tests.support.suite.requirements import leave_out

from plimsoll.bootstrap import build_toolkit
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.definitions.reference import parse_definition
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

GUIDES = Path(__file__).resolve().parents[3] / "docs" / "guides"
REDIS_LOAD = GUIDES / "redis-load.py"
AS_ONE = [{"percentile": 99, "interval": "6s", "below": "30s"}]
"""Judges all of the cell as one interval, which no short stall of the machine leaves empty."""


def need(*programs: str) -> None:
    """Leave out the test that asks where this machine lacks one of these programs."""
    if missing := [name for name in programs if shutil.which(name) is None]:
        leave_out(f"this machine has no {', '.join(missing)}")


def guided(
    name: str,
    words: Mapping[str, str],
    workload: Mapping[str, object],
    page: str = "any-database.md",
    **changes: object,
) -> Definition:
    """Return the guide's definition of that name as one short cell, with other `words`, and keys changed."""
    [text] = re.findall(rf"```yaml\n(name: {name}\n.*?)```", (GUIDES / page).read_text(), re.DOTALL)
    for old, new in words.items():
        assert old in text, f"the guide has no {old!r}"
        text = text.replace(old, new)
    own = parse_definition(text, page)
    content = {
        **own.model_dump(mode="json"),
        "workload": {**own.workload.model_dump(mode="json", exclude_unset=True), **workload},
        "variants": [own.variants[0].model_dump(mode="json")],
        "loads": ["100/s"],
        "repeats": 1,
        "control": None,
        "timing": {"duration": "8s", "warmup": "2s"},
        "service_levels": [{"percentile": 99, "interval": "2s", "below": "30s"}],
        "disturbance": ANY_NOISE,
        **changes,
    }
    return Definition.model_validate(content)


def run(own: Definition, folder: Path, log: Callable[[str], None]) -> tuple[Toolkit, Verdict]:
    """Run the definition's one cell to its verdict."""
    tools = build_toolkit(Settings(store=str(folder / "store"), work=folder / "work"))
    assert problems(tools, own) == ()
    CampaignStore(tools.store, "guide").open(own)
    [ran] = run_missing(tools, "guide", "me", log)
    assert (ran.troubles, ran.remains) == ((), False)
    assert ran.verdict is not None
    return tools, ran.verdict
