"""The definition: everything that declares a campaign."""

from typing import Self

from pydantic import model_validator

from plimsoll.domain.contradictions import contradictions
from plimsoll.domain.definition_facts import DefinitionFacts
from plimsoll.domain.faults import require_none
from plimsoll.prefix import PREFIX


class Definition(DefinitionFacts):
    """A campaign as declared in one YAML file."""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        require_none(contradictions(self))
        return self

    @property
    def dag_id(self) -> str:
        """Return the id of the Airflow DAG that runs the campaign."""
        return dag_id_of(self.name)


def dag_id_of(name: str) -> str:
    """Return the Airflow DAG id for a definition's name: `azul-2022` → `azul_2022`, after the installation's prefix."""
    return PREFIX + name.replace("-", "_")


def name_of_dag(dag_id: str) -> str:
    """Return the name of the definition that a DAG runs; empty for DAGs without the prefix, which are others'.

    This reverses `dag_id_of`, since names contain no underscore.
    """
    return dag_id.removeprefix(PREFIX).replace("_", "-") if dag_id.startswith(PREFIX) else ""


def run_command(name: str, campaign_id: str) -> str:
    """Return the command that goes on with a campaign, for a definition of which only the name is known here."""
    return f"`plimsoll run {name} --campaign {campaign_id}`, with the file's path for {name!r} where it lies elsewhere"
