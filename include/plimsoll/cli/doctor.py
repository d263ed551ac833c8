"""`plimsoll doctor`: check whether this machine can run campaigns, with advice."""

import typer

from plimsoll.cli.output import JsonOption, print_json


def doctor(as_json: JsonOption = False) -> None:
    """Check this machine: Python, memory, disk, ports, loopback addresses, other programs.

    Exits with 1 if something must be mended.
    """
    from dataclasses import asdict

    from plimsoll.adapters.clock import SystemClock
    from plimsoll.adapters.hosts.machine import examine
    from plimsoll.bootstrap import artefacts_in, products_with
    from plimsoll.domain.system import System
    from plimsoll.settings import Settings

    settings = Settings()
    product = products_with(artefacts_in(settings), SystemClock())[System().database]
    findings = examine(settings.work, settings.cache, product.ports)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            label = "MEND" if not finding.ok else "NOTE" if finding.is_note else "ok  "
            typer.echo(f"{label}  {finding.name}: {finding.found}")
            if not finding.ok or finding.is_note:
                typer.echo(f"      {finding.mend}")
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)
