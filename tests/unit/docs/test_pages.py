"""The documentation's links lead somewhere, and its tables have no prose in them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[3]
PAGES = sorted([*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md")])
LONGEST_CELL = 12
"""Words. What is longer is a sentence, which belongs below its table."""


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page as GitHub makes them: of headings, and those that it names itself."""
    text = prose(page)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    made = {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}
    return made | set(re.findall(r'<a id="([\w-]+)">', text))


def prose(page: Path) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """Yield the file and the anchor of each link into the checkout."""
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", prose(page)):
        yield (page.parent / target if target else page), anchor


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_every_link_leads_to_a_file_and_to_a_heading_of_it(page: Path) -> None:
    broken = [
        f"{target.name}#{anchor}"
        for target, anchor in links(page)
        if not target.exists() or (anchor and anchor not in anchors(target))
    ]
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_no_cell_of_a_table_is_prose(page: Path) -> None:
    rows = re.findall(r"^\|(.+)\|$", prose(page), re.MULTILINE)
    cells = [cell for row in rows for cell in re.split(r"(?<!\\)\|", row)]
    glued = re.findall(r"^\|.+\|\n([^|\n].*)$", prose(page), re.MULTILINE)  # a table's last row, as Markdown reads it
    assert [cell for cell in [*cells, *glued] if len(cell.split()) > LONGEST_CELL] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_every_table_has_a_head(page: Path) -> None:
    """A row without one, as below an empty line within a table, is shown as text."""
    tables = re.findall(r"(?:^\|.*\n)+", prose(page), re.MULTILINE)
    assert [table for table in tables if not re.match(r"\|.*\n\|[-:| ]+\|\n", table)] == []


def test_every_page_is_reached_from_the_index() -> None:
    reached: set[Path] = set()
    ahead = [CHECKOUT / "README.md"]
    while ahead:
        page = ahead.pop().resolve()
        if page not in reached and page.suffix == ".md" and page.is_file():
            reached.add(page)
            ahead.extend(target for target, _ in links(page))
    assert set(PAGES) <= reached
