"""The definition: everything that declares a campaign."""

from typing import Any, Self

from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from plimsoll.domain.campaign.resolve import resolve, setup_of
from plimsoll.domain.definition.contradictions import contradictions
from plimsoll.domain.keys.definition_keys import DefinitionKeys
from plimsoll.domain.keys.faults import require_none
from plimsoll.prefix import dag_id_of


class Definition(DefinitionKeys):
    """A campaign as declared in one YAML file."""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        require_none(contradictions(self, resolve(self)))
        return self

    @model_serializer(mode="wrap")
    def _without_foreign_options(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out options of protocols that no clients speak, except those that somebody set."""
        fields: dict[str, Any] = dump(self)
        dumped = [
            (self.workload, fields.get("workload")),
            *zip(self.workloads, fields.get("workloads", ()), strict=False),
        ]
        protocols = setup_of(self).protocols
        for workload, options in dumped:
            for key in workload.foreign_options(protocols) - workload.model_fields_set if options else ():
                options.pop(key, None)
        return fields

    @property
    def dag_id(self) -> str:
        return dag_id_of(self.name)
