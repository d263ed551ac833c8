"""The files of a team's deployment, read as Compose reads them, but for the substitution of variables."""

from typing import Any

import pytest
from ruamel.yaml import YAML
from tests.unit.deployment.files import pins_of, text_of


@pytest.fixture(scope="session")
def compose_text() -> str:
    """Provide docker-compose.yaml without its comments."""
    return "\n".join(line for line in text_of("docker-compose.yaml").splitlines() if not line.lstrip().startswith("#"))


@pytest.fixture(scope="session")
def services(compose_text: str) -> dict[str, Any]:
    """Provide the services, with all merges made."""
    return YAML(typ="safe").load(compose_text)["services"]


@pytest.fixture(scope="session")
def dockerfile() -> list[str]:
    """Provide the Dockerfile's instructions, continued lines joined."""
    joined = text_of("Dockerfile").replace("\\\n", " ")
    return [line for line in joined.splitlines() if line and not line.startswith("#")]


@pytest.fixture(scope="session")
def env_example() -> str:
    return text_of(".env.example")


@pytest.fixture(scope="session")
def pins() -> dict[str, dict[str, str]]:
    """Provide each package's version, by lock file."""
    names = ("requirements.txt", "requirements-team.txt")
    return {name: pins_of(text_of(name)) for name in names}
