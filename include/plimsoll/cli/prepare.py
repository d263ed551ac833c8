"""`plimsoll prepare`: download and build the software of definitions before the first cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.output import log_shown
from plimsoll.domain.errors import DefinitionError, PlimsollError

if TYPE_CHECKING:
    from collections.abc import Collection

    from plimsoll.services.toolkit import Toolkit
    from plimsoll.settings import Settings

_FAILED = 2


def prepare(
    definitions: Annotated[
        list[str] | None,
        typer.Argument(help="Names or paths; without any, the definitions in the folder that run on this machine."),
    ] = None,
) -> None:
    """Fetch and build what definitions need: JDKs, databases, the load generator.

    All that is there already is read and verified by its checksum; with a full cache no network is needed.
    A definition that is faulty, or whose needs can't be had, is named with its problem, and the others are prepared.
    Exits with 2 where that is one that was asked for by name, or where nothing at all could be had; else with 0.
    """
    from plimsoll.bootstrap import build_toolkit, definition_folder
    from plimsoll.settings import Settings

    settings = Settings()
    toolkit = build_toolkit(settings)
    ready: list[str] = []
    failed: dict[str, PlimsollError] = {}
    with log_shown():
        for name in definitions or definition_folder(settings).names():
            try:
                if _prepare(toolkit, settings, name, even_elsewhere=bool(definitions)):
                    ready.append(name)
            except PlimsollError as error:
                failed[name] = error
                typer.echo(f"plimsoll: {name} is not prepared: {error}", err=True)
    _tell(ready, failed, settings)
    is_nothing_had = not ready and any(not isinstance(error, DefinitionError) for error in failed.values())
    if is_nothing_had or (failed and definitions):
        raise typer.Exit(_FAILED)


def _prepare(toolkit: Toolkit, settings: Settings, name: str, *, even_elsewhere: bool) -> bool:
    """Prepare one definition, unless its cells run elsewhere. Returns whether it was prepared. Raises PlimsollError."""
    from plimsoll.bootstrap import load_definition

    definition = load_definition(settings, name)
    if definition.provider.name != "local" and not even_elsewhere:
        return False
    for product in definition.products:
        toolkit.database(product).prepare(definition)
    toolkit.load_generator(definition).prepare(definition)
    return True


def _tell(ready: Collection[str], failed: Collection[str], settings: Settings) -> None:
    if not failed:
        typer.echo(f"all artefacts are ready in {settings.cache}")
    elif ready:
        typer.echo(f"artefacts of {', '.join(ready)} are ready in {settings.cache}; not of {', '.join(failed)}")
