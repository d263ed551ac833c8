"""An Airflow notifier that writes what it is told into a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airflow.sdk import BaseNotifier


class ToFile(BaseNotifier):
    """Appends `text` to the file at `path`."""

    template_fields = ("text",)

    def __init__(self, path: str, text: str) -> None:
        super().__init__()
        self.path, self.text = path, text

    def notify(self, context: Mapping[str, Any]) -> None:
        """Write it; OSError where that can't be."""
        with Path(self.path).open("a") as file:
            file.write(f"{self.text}\n")
