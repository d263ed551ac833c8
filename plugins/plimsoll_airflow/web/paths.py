"""Parameters of paths and queries, checked before anything is looked up by them."""

from typing import Annotated

from fastapi import Path

from plimsoll.domain.cell import CAMPAIGN_ID
from plimsoll.domain.variant import SLUG

CampaignId = Annotated[str, Path(pattern=CAMPAIGN_ID, max_length=100, examples=["demo-20260131t120000"])]
CellId = Annotated[str, Path(pattern=SLUG, max_length=80, examples=["g1-040k-r3"])]
AttemptNumber = Annotated[int, Path(ge=1, le=100_000)]
DefinitionName = Annotated[str, Path(pattern=SLUG, max_length=60, examples=["demo"])]
