"""What documents say of pictures: whether the results in them are a real campaign's or made up."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.pictures.record import CAMPAIGN, CHECKOUT


class Caption(NamedTuple):
    """A sentence of a document: one for each kind of results."""

    document: str
    made_up: str
    real: str


CAPTIONS = (
    Caption(
        "README.md",
        "*The report of a small campaign with made-up results: the answer, why loads were missed, one cell in detail.*",
        "*The report of a real campaign on one machine: the answer, why loads were missed, one cell in detail. "
        "[Its bundle](docs/images/campaign.zip) contains everything that the report is made from.*",
    ),
    Caption(
        "README.md",
        "*A made-up campaign with cells in every state: variants × loads, the repeats in each square.*",
        "*The same campaign's matrix: variants × loads, the repeats in each square.*",
    ),
    Caption(
        "docs/guides/pages.md",
        "*Made-up results: a campaign with cells in every state.*",
        "*A real campaign on one machine.*",
    ),
    Caption(
        "docs/guides/pages.md",
        "*Made-up results, by `make pictures`.*",
        "*Cell and report are a real campaign's, the list of campaigns is made up; by `make pictures`.*",
    ),
)


def write_captions(checkout: Path = CHECKOUT, *, real: bool = CAMPAIGN.exists()) -> None:
    """Have the documents say what the pictures show."""
    for caption in CAPTIONS:
        file = checkout / caption.document
        text = file.read_text(encoding="utf-8")
        old, new = (caption.made_up, caption.real) if real else (caption.real, caption.made_up)
        file.write_text(text.replace(old, new), encoding="utf-8")


def wrong_captions(checkout: Path = CHECKOUT, *, real: bool = CAMPAIGN.exists()) -> Iterator[str]:
    """Yield captions that should stand in a document and don't."""
    for caption in CAPTIONS:
        words = caption.real if real else caption.made_up
        if words not in (checkout / caption.document).read_text(encoding="utf-8"):
            yield f"{caption.document}: {words}"
