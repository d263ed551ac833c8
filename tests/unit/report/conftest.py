from collections.abc import Mapping

import pytest
from tests.support.campaigns.synthetic import demo_campaign
from tests.support.campaigns.synthetic.patchy import patchy_campaign

from plimsoll.report import build_report
from plimsoll.report.findings import Findings, analyse


@pytest.fixture(scope="session")
def demo_files() -> Mapping[str, bytes]:
    """The demo's whole report: drawn once, it takes seconds."""
    return build_report(demo_campaign()).files


@pytest.fixture(scope="session")
def demo() -> Findings:
    return analyse(demo_campaign())


@pytest.fixture(scope="session")
def patchy() -> Findings:
    """Two variants, two loads, three repeats, with an invalid, a retried, a missing and an oddly hosted cell."""
    return analyse(patchy_campaign())
