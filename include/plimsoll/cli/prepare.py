"""Before the first cell: `plimsoll prepare` downloads and builds the software of definitions, `plimsoll doctor`
checks whether this machine, or this Airflow, can run campaigns.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.output import JsonOption, SetOption, log_shown, print_json, print_text
from plimsoll.domain.campaign.resolve import hosts_spec, resolve
from plimsoll.domain.text.errors import DefinitionError, Finding, PlimsollError, UntrustedServer
from plimsoll.services.campaign.open.planning import download_lines, downloads, fetch, known_bytes
from plimsoll.services.toolkit import Toolkit, needs_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from plimsoll.domain.campaign.campaign import Campaign
    from plimsoll.domain.keys.variant import Download
    from plimsoll.settings import Settings

_FAILED = 2


def prepare(
    definitions: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names or paths of definitions. Without any: all in the folder whose provider uses this machine."
        ),
    ] = None,
    values: SetOption = None,
) -> None:
    """Fetch and build what definitions need: JDKs, databases, the load generator.

    Everything in the cache is verified by its checksum; with a full cache no network is needed. If a definition is
    faulty, or its software can't be fetched, the command names it with the problem and prepares the others. It says
    first how much is to be fetched, and ends at the first certificate that is refused.

    Exits with 2 if a definition that you named failed, or if nothing at all could be fetched; otherwise with 0.
    """
    from plimsoll.bootstrap import build_toolkit, definition_folder
    from plimsoll.services.campaign.open.request import values_set
    from plimsoll.settings import Settings

    settings = Settings()
    toolkit = build_toolkit(settings)
    names = definitions or definition_folder(settings).names()
    campaigns, faulty = _campaigns(settings, names, values_set(values))
    if not definitions:
        campaigns = {name: campaign for name, campaign in campaigns.items() if _runs_here(toolkit, campaign)}
    _announce(toolkit, settings.cache, campaigns, are_named=bool(definitions))
    ready: list[str] = []
    failed: dict[str, PlimsollError] = {}
    with log_shown():
        for name in (name for name in names if name in campaigns or name in faulty):
            try:
                if name in faulty:
                    raise faulty[name]
                fetch(toolkit, campaigns[name])
                ready.append(name)
            except UntrustedServer:
                raise
            except PlimsollError as error:
                failed[name] = error
                typer.echo(f"plimsoll: {name} is not prepared: {error}", err=True)
    if not failed:
        typer.echo(f"all artefacts are ready in {settings.cache}")
    elif ready:
        typer.echo(f"artefacts of {', '.join(ready)} are ready in {settings.cache}; not of {', '.join(failed)}")
    # Faulty definitions alone must not keep an Airflow from starting, before which all of the folder is prepared
    is_nothing_had = not ready and any(not isinstance(error, DefinitionError) for error in failed.values())
    if is_nothing_had or (failed and definitions):
        raise typer.Exit(_FAILED)


def _campaigns(
    settings: Settings, names: Sequence[str], values: Mapping[str, str]
) -> tuple[dict[str, Campaign], dict[str, PlimsollError]]:
    """Return the campaigns of definitions by name, and the faults of definitions that have none."""
    from plimsoll.bootstrap import load_document
    from plimsoll.services.campaign.open.creation import requested_definition

    campaigns: dict[str, Campaign] = {}
    faulty: dict[str, PlimsollError] = {}
    for name in names:
        try:
            campaigns[name] = resolve(requested_definition(load_document(settings, name), values))
        except PlimsollError as error:
            faulty[name] = error
    return campaigns, faulty


def _runs_here(toolkit: Toolkit, campaign: Campaign) -> bool:
    provider = toolkit.providers.get(campaign.provider.name)
    return provider is not None and provider.is_local


def _announce(toolkit: Toolkit, cache: Path, campaigns: Mapping[str, Campaign], *, are_named: bool) -> None:
    """Say how much is fetched, and, of definitions that nobody named, by which alone less would be."""
    needed: dict[str, Sequence[Download]] = {}
    for name, campaign in campaigns.items():
        with suppress(PlimsollError):  # told when it is prepared
            needed[name] = [download for download in downloads(toolkit, campaign) if not download.is_there]
    by_name = {download.name: download for wanted in needed.values() for download in wanted}
    for line in download_lines(list(by_name.values())):
        typer.echo(f"{line}. What is fetched is kept in {cache}")
    if by_name and not are_named:
        # Of equal downloads those of the demo, with which people begin
        least = min(needed, key=lambda name: (known_bytes(needed[name]), name != "demo"))
        size = f"{known_bytes(needed[least]) / 1_000_000:,.0f} MB"
        typer.echo(
            f"To fetch less, name definitions: `plimsoll prepare {least}`, or `make up CAMPAIGN={least}`: {size}"
        )


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
            print_text(f"{label}  {finding.name}: {finding.found}")
            if not finding.ok or finding.is_note:
                print_text(f"      {finding.mend}")
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


def _of_airflow() -> Sequence[Finding]:
    from importlib import import_module

    # By name, for the command line is a part of the core, which knows nothing of Airflow.
    findings: Sequence[Finding] = import_module("plimsoll_airflow.checks").examine()
    return findings


def _of_machine() -> Sequence[Finding]:
    from plimsoll.adapters.clock import SystemClock
    from plimsoll.adapters.hosts.machine import examine
    from plimsoll.adapters.providers.local.checks import LocalOptions, memory_needed
    from plimsoll.bootstrap import artefacts_in, load_definition, products_with
    from plimsoll.places import shipped
    from plimsoll.settings import Settings

    settings = Settings()
    # Without a toolkit, for whose store and keys this command is not asked
    products = products_with(artefacts_in(settings), SystemClock())
    demo = resolve(load_definition(settings, str(shipped("campaigns") / "demo.yaml")))
    spec = hosts_spec(demo, needs_of(products, demo))
    return examine(settings.work, settings.cache, spec.needs.ports, memory_needed(spec, LocalOptions()))
