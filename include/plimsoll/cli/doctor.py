"""`plimsoll doctor`: check whether this machine, or this Airflow, can run campaigns, with advice."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.output import JsonOption, print_json

if TYPE_CHECKING:
    from plimsoll.domain.finding import Finding


def doctor(
    as_json: JsonOption = False,
    airflow: Annotated[bool, typer.Option("--airflow", help="Check the Airflow of this environment instead.")] = False,
) -> None:
    """Check this machine: Python, memory, disk, ports, loopback addresses, other programs.

    With `--airflow`: the plugin, the pool, the triggerers' capacity, the map length. Exits with 1 if something must be
    mended.
    """
    from dataclasses import asdict

    findings = _of_airflow() if airflow else _of_machine()
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            label = "MEND" if not finding.ok else "NOTE" if finding.is_note else "ok  "
            typer.echo(f"{label}  {finding.name}: {finding.found}")
            if not finding.ok or finding.is_note:
                typer.echo(f"      {finding.mend}")
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


def _of_airflow() -> "Sequence[Finding]":
    from importlib import import_module

    # By name, for the command line is a part of the core, which knows nothing of Airflow.
    found: Sequence[Finding] = import_module("plimsoll_airflow.checks").examine()
    return found


def _of_machine() -> "Sequence[Finding]":
    from plimsoll.adapters.clock import SystemClock
    from plimsoll.adapters.hosts.machine import examine
    from plimsoll.bootstrap import artefacts_in, products_with
    from plimsoll.domain.system import System
    from plimsoll.settings import Settings

    settings = Settings()
    product = products_with(artefacts_in(settings), SystemClock())[System().database]
    return examine(settings.work, settings.cache, product.ports)
