"""The base class of all models: instances are frozen, and unknown keys are errors."""

from operator import not_
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

_T = TypeVar("_T")
LeftOutIfEmpty = Annotated[_T, Field(exclude_if=not_)]
"""The type of a key that is not written while its value is empty or false, so that older readers never meet it."""


class Model(BaseModel):
    """A frozen value. Instances are compared by content and can be shared safely."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")
