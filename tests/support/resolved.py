"""What definitions of tests are resolved to."""

from plimsoll.domain.campaign.campaign import CampaignStage
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition


def only_stage(definition: Definition) -> CampaignStage:
    """Return the stage of a definition without further ones."""
    (stage,) = resolve(definition).stages
    return stage


def only_part(definition: Definition) -> Part:
    """Return the part of a definition with one stage and one workload."""
    (part,) = only_stage(definition).parts
    return part
