"""Fetch and build what definitions need: `python -m plimsoll.adapters.artefacts [--cache DIR] [DEFINITION.yaml…]`.

Without definitions, everything that the shipped definitions of the local provider need. Every file that is there
already is read and verified by its checksum; with a full cache no network is needed.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from plimsoll.adapters.artefacts.source import Artefacts
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import ArtefactError, PlimsollError

_SHIPPED = Path(__file__).resolve().parents[3] / "campaigns"


def main(arguments: Sequence[str]) -> int:
    """Prepare everything; 1 with the reason on standard error when something can't be had."""
    parser = argparse.ArgumentParser(prog="python -m plimsoll.adapters.artefacts", description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "plimsoll", metavar="DIR")
    parser.add_argument("definitions", nargs="*", type=Path, metavar="DEFINITION.yaml")
    options = parser.parse_args(arguments)
    artefacts = Artefacts(options.cache, lambda line: print(line, flush=True))
    try:
        for definition in [_read(path) for path in options.definitions] or local_definitions(_SHIPPED):
            artefacts.prepare(definition)
    except PlimsollError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"all artefacts are ready in {options.cache}")
    return 0


def local_definitions(folder: Path) -> Iterator[Definition]:
    """The folder's definitions whose clusters run on this machine."""
    definitions = (_read(path) for path in sorted(folder.glob("*.yaml")))
    return (definition for definition in definitions if definition.provider.name == "local")


def _read(path: Path) -> Definition:
    try:
        return Definition.model_validate(YAML(typ="safe").load(path))
    except (OSError, YAMLError, ValidationError) as error:
        mend = f"`plimsoll plan {path}` says what is wrong, line by line"
        raise ArtefactError(f"is not a definition: {error}", where=str(path), mend=mend) from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
