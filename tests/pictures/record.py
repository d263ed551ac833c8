"""Which picture is made from which files, and of what content those were when it was made."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
IMAGES = CHECKOUT / "docs" / "images"
CAMPAIGN = IMAGES / "campaign.zip"
"""The bundle of a real campaign's report."""

_RECORD = IMAGES / "pictures.json"
_LOOKS = ("", "-dark", "-narrow")
PAGES = ("campaigns", "matrix", "cell", "report-page", "compare")


@dataclass(frozen=True)
class Group:
    """Pictures that are made together, by name, and patterns of the files below the checkout that they show."""

    pictures: tuple[str, ...]
    sources: tuple[str, ...]


GROUPS: Mapping[str, Group] = {
    "report": Group(
        ("report.png",),
        (
            "include/plimsoll/report/templates/*",
            "include/plimsoll/report/sections/*",
            "include/plimsoll/report/charts/*.py",
            "docs/images/campaign.zip",
        ),
    ),
    "pages": Group(
        tuple(f"{page}{look}.png" for page in PAGES for look in _LOOKS),
        (
            "plugins/plimsoll_airflow/web/templates/*",
            "plugins/plimsoll_airflow/web/static/*",
            "docs/images/campaign.zip",
        ),
    ),
}
BY_HAND = ("clear.png", "trigger.png")
"""Airflow's own pages in a running stack."""


def record(group: str) -> None:
    """Put down that the group's pictures were made from its files as they are now."""
    known = recorded()
    known |= dict.fromkeys(GROUPS[group].pictures, digest(group))
    _RECORD.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")


def recorded() -> dict[str, str]:
    """Return by picture the digest of the files that it was made from."""
    return dict(json.loads(_RECORD.read_text(encoding="utf-8"))) if _RECORD.exists() else {}


def digest(group: str, checkout: Path = CHECKOUT) -> str:
    """Digest names and contents of the group's files, whatever their times and versions."""
    parts = (
        f"{path.relative_to(checkout).as_posix()} {sha256(path.read_bytes()).hexdigest()}\n"
        for path in _files(group, checkout)
    )
    return sha256("".join(parts).encode()).hexdigest()


def stale(known: Mapping[str, str], checkout: Path = CHECKOUT) -> tuple[str, ...]:
    """Return pictures whose files have changed since they were made, or that were never made."""
    return tuple(
        picture
        for name, group in GROUPS.items()
        for picture in group.pictures
        if known.get(picture) != digest(name, checkout)
    )


def _files(group: str, checkout: Path) -> Iterator[Path]:
    found = {path for pattern in GROUPS[group].sources for path in checkout.glob(pattern) if path.is_file()}
    return iter(sorted(found))
