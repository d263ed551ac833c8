"""Pages taken apart, for tests of what they show."""

from html.parser import HTMLParser

from tests.airflow.web.app import Client

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
"""What somebody might write to have a page run it."""


class Page(HTMLParser):
    """Tags with their attributes, and the text."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def attributes(self, tag: str, name: str) -> list[str]:
        return [value for found, own in self.tags if found == tag and (value := own.get(name)) is not None]


def page(client: Client, path: str, role: str = "viewer") -> Page:
    answer = client(role, Accept="text/html").get(path)
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def assert_harmless(shown: Page) -> None:
    """Check that no script runs but the pages' own."""
    assert not [own for _, own in shown.tags if any(name.startswith("on") for name in own)]
    scripts = [own for tag, own in shown.tags if tag == "script"]
    assert all((own.get("src") or "").startswith("/plimsoll/static/") for own in scripts)
