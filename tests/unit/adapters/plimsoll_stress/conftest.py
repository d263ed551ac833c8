"""What the load generator's checks find in a definition."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.artefacts import EmptyArtefacts
from tests.support.resolved import only_part
from tests.unit.adapters.plimsoll_stress.workloads import definition

from plimsoll.adapters.generators.plimsoll_stress.checks import problems
from plimsoll.domain.campaign.resolve import load_spec


@pytest.fixture
def found(tmp_path: Path) -> Any:
    """What `plan` says of a workload, a text each."""
    return lambda workload, **changes: [
        str(problem)
        for problem in problems(load_spec(only_part(definition(workload, **changes))), EmptyArtefacts(tmp_path))
    ]
