"""Parameters of paths and queries, validated before anything is looked up with them."""

from typing import Annotated

from fastapi import Path, Query

from plimsoll.domain.cell import CAMPAIGN_ID, LONGEST_CAMPAIGN_ID
from plimsoll.domain.definition_keys import LONGEST_NAME
from plimsoll.domain.limits import LONGEST_CELL_ID
from plimsoll.domain.variant import SLUG

_PAIR = "[a-z0-9-]+=[a-z0-9-]+"

CampaignId = Annotated[
    str, Path(pattern=CAMPAIGN_ID, max_length=LONGEST_CAMPAIGN_ID, examples=["demo-20260131t120000"])
]
CellId = Annotated[str, Path(pattern=SLUG, max_length=LONGEST_CELL_ID, examples=["g1-040k-r3"])]
AttemptNumber = Annotated[int, Path(ge=1, le=100_000)]
# Ids of cells contain it.
PartName = Annotated[str, Path(pattern=SLUG, max_length=LONGEST_CELL_ID, examples=["key-value"])]
DefinitionName = Annotated[str, Path(pattern=SLUG, max_length=LONGEST_NAME, examples=["demo"])]
CampaignNamed = Annotated[
    str, Query(pattern=CAMPAIGN_ID, max_length=LONGEST_CAMPAIGN_ID, examples=["demo-20260131t120000"])
]
CampaignChosen = Annotated[str, Query(pattern=f"^$|{CAMPAIGN_ID}", max_length=LONGEST_CAMPAIGN_ID)]
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
