"""Fixtures that the tests of a folder share end with that folder's tests."""

from typing import Any

import pytest


class NothingOutlivesItsFolder:
    """Refuses fixtures with scope `package` that would live longer than the folder's tests and disturb other tests."""

    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> None:
        """Fail for a folder without `__init__.py`: it is no package for pytest; its fixtures would live too long."""
        if fixturedef.scope == "package" and isinstance(request.node, pytest.Session):
            pytest.fail(f"the fixture {fixturedef.argname} is a package's, but {fixturedef.baseid} has no __init__.py")
