"""Fixtures that the tests of a folder share end with that folder's tests."""

from typing import Any

import pytest


class NothingOutlivesItsFolder:
    """Refuses fixtures that a folder's tests are to share and that live on: their processes disturb all others."""

    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> None:
        """Pytest takes only a folder with an `__init__.py` for a package; else a package's fixture is the session's."""
        if fixturedef.scope == "package" and isinstance(request.node, pytest.Session):
            pytest.fail(f"the fixture {fixturedef.argname} is a package's, but {fixturedef.baseid} has no __init__.py")
