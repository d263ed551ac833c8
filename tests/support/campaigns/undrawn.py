"""Reports without their drawings, which take most of a small report's time."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from plimsoll.report.charts.rendering import picture_specification
from plimsoll.report.charts.theme import Figure


@contextmanager
def undrawn() -> Iterator[None]:
    """Make charts inside the block without drawing them: for tests that look at a report's pages, tables and documents.

    In the place of a drawing stands the digest of what would be drawn, so that bytes are equal where drawings are.
    """
    with (
        mock.patch("plimsoll.report.build.drawing", _digest),
        mock.patch("plimsoll.report.build.pictures", lambda name, svg: {f"charts/{name}.svg": svg.encode()}),
    ):
        yield


def _digest(figure: Figure) -> str:
    specification = json.dumps(picture_specification(figure))
    return f'<svg width="600" height="300"><desc>{hashlib.sha256(specification.encode()).hexdigest()}</desc></svg>'
