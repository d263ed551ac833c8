"""`plimsoll doctor`: check whether this machine can run campaigns, with advice."""

import typer

from plimsoll.cli.output import JsonOption, print_json


def doctor(as_json: JsonOption = False) -> None:
    """Check this machine: Python, memory, disk, ports, loopback addresses. Exits with 1 if something must be mended."""
    from dataclasses import asdict

    from plimsoll.adapters.machine import examine
    from plimsoll.settings import Settings

    settings = Settings()
    findings = examine(settings.work, settings.cache)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            typer.echo(f"{'ok  ' if finding.ok else 'MEND'}  {finding.name}: {finding.found}")
            if not finding.ok:
                typer.echo(f"      {finding.mend}")
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)
