from collections.abc import Iterator, Mapping, Sequence

import pytest
from tests.support.campaigns.synthetic import demo_campaign
from tests.support.campaigns.synthetic.patchy import patchy_campaign
from tests.support.campaigns.undrawn import undrawn

from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.report import build_report
from plimsoll.report.build import figures
from plimsoll.report.charts.theme import Figure


@pytest.fixture
def without_drawings() -> Iterator[None]:
    """Draw nothing, for tests that look at the pages, tables and documents of a report of their own."""
    with undrawn():
        yield


@pytest.fixture(scope="session")
def demo_files() -> Mapping[str, bytes]:
    """Provide the demo's whole report: drawn once, it takes seconds."""
    return build_report(demo_campaign())


@pytest.fixture(scope="session")
def demo() -> Findings:
    return analyse(demo_campaign())


@pytest.fixture(scope="session")
def patchy() -> Findings:
    """Provide two variants, two loads, three repeats, with an invalid, a retried, a missing and an oddly hosted
    cell.
    """
    return analyse(patchy_campaign())


@pytest.fixture(scope="session")
def demo_figures(demo: Findings) -> Sequence[Figure]:
    """Provide the demo's charts, which take most of a second to make."""
    return figures(demo)


@pytest.fixture(scope="session")
def patchy_figures(patchy: Findings) -> Sequence[Figure]:
    """Provide the charts of the other, for pages in which something else is looked at, too."""
    return figures(patchy)
