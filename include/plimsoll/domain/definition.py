"""The definition: everything that declares a campaign."""

from collections.abc import Iterator
from typing import Self

from pydantic import ValidationInfo, model_validator

from plimsoll.domain.contradictions import contradictions, shares_as_percentiles, too_many_cells
from plimsoll.domain.definition_keys import DefinitionKeys
from plimsoll.domain.faults import Fault, require_none

STORED = {"stored": True}
"""Context of validation for a campaign's own copy, which an earlier version may have allowed."""


class Definition(DefinitionKeys):
    """A campaign as declared in one YAML file."""

    @model_validator(mode="after")
    def _is_consistent(self, info: ValidationInfo) -> Self:
        is_stored = bool((info.context or {}).get("stored"))
        require_none(contradictions(self))
        require_none(iter(()) if is_stored else _refused_since(self))
        return self

    @property
    def dag_id(self) -> str:
        """The id of the Airflow DAG that runs the campaign."""
        return dag_id_of(self.name)


def _refused_since(definition: Definition) -> Iterator[Fault]:
    """Faults that were none in earlier versions, whose campaigns stay readable."""
    yield from too_many_cells(definition)
    yield from dict.fromkeys(shares_as_percentiles(definition))


def dag_id_of(name: str) -> str:
    """The Airflow DAG id for a definition's name: `azul-2022` → `azul_2022`."""
    return name.replace("-", "_")


def name_of_dag(dag_id: str) -> str:
    """The name of the definition that a DAG runs. This reverses `dag_id_of`, since names contain no underscore."""
    return dag_id.replace("_", "-")
