"""`plimsoll prepare`: fetch and build what definitions need, ahead of the first cell."""

from typing import Annotated

import typer

from plimsoll.cli.output import log_shown


def prepare(
    definitions: Annotated[
        list[str] | None,
        typer.Argument(help="Names or paths; without any, the shipped definitions that run on this machine."),
    ] = None,
) -> None:
    """Fetch and build what definitions need: JDKs, databases, the load generator.

    All that is there already is read and verified by its checksum; with a full cache no network is needed.
    """
    from plimsoll.bootstrap import build_toolkit, definition_folder, load_definition
    from plimsoll.settings import Settings

    settings = Settings()
    toolkit = build_toolkit(settings)
    chosen = [load_definition(settings, name) for name in definitions or definition_folder(settings).names()]
    with log_shown():
        for definition in chosen:
            if definitions or definition.provider.name == "local":
                toolkit.database(definition).prepare(definition)
    typer.echo(f"all artefacts are ready in {settings.cache}")
