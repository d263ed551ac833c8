"""The one base of all models: frozen, unknown keys are errors."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A frozen value; equal by content, safe to share."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")
