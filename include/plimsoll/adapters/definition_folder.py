"""Definition files: one YAML file a campaign, in one folder."""

from pathlib import Path

from plimsoll.domain.errors import NotFound


class DefinitionFolder:
    """The folder of definitions, by name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> tuple[str, ...]:
        """Names of all definitions in the folder, sorted."""
        return tuple(sorted(path.stem for path in self._folder.glob("*.yaml")))

    def find(self, name_or_path: str) -> Path:
        """The file of a name, or the file itself where a path is given; NotFound lists the names there are."""
        candidates = (self._folder / f"{name_or_path}.yaml", Path(name_or_path))
        for path in candidates:
            if path.is_file():
                return path
        known = ", ".join(self.names()) or "none"
        raise NotFound(
            f"there is no definition {name_or_path!r}",
            where=str(self._folder),
            mend=f"give one of these names, or the path of a YAML file: {known}",
        )

    def read(self, name_or_path: str) -> tuple[str, str]:
        """The file's place and its text."""
        path = self.find(name_or_path)
        return str(path), path.read_text(encoding="utf-8")
