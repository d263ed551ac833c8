"""Parameters of paths and queries, validated before anything is looked up with them."""

from typing import Annotated

from fastapi import Path, Query

from plimsoll.domain.cell import CAMPAIGN_ID
from plimsoll.domain.variant import SLUG

_PAIR = "[a-z0-9-]+=[a-z0-9-]+"

CampaignId = Annotated[str, Path(pattern=CAMPAIGN_ID, max_length=100, examples=["demo-20260131t120000"])]
CellId = Annotated[str, Path(pattern=SLUG, max_length=80, examples=["g1-040k-r3"])]
AttemptNumber = Annotated[int, Path(ge=1, le=100_000)]
PartName = Annotated[str, Path(pattern=SLUG, max_length=80, examples=["key-value"])]
DefinitionName = Annotated[str, Path(pattern=SLUG, max_length=60, examples=["demo"])]
CampaignNamed = Annotated[str, Query(pattern=CAMPAIGN_ID, max_length=100, examples=["demo-20260131t120000"])]
CampaignChosen = Annotated[str, Query(pattern=f"^$|{CAMPAIGN_ID}", max_length=100)]
Pairs = Annotated[
    str,
    Query(
        pattern=f"^$|^{_PAIR}([ ,]+{_PAIR})*$",
        max_length=2_000,
        description="Variants that belong together although their ids differ: `id-in-a=id-in-b`; several with blanks",
        examples=["g1=g1-tuned"],
    ),
]
Force = Annotated[bool, Query(description="Compare what is not comparable all the same; the differences are named")]
