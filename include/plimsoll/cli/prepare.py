"""Before the first cell: `plimsoll prepare` downloads and builds the software of definitions, `plimsoll doctor`
checks whether this machine, or this Airflow, can run campaigns.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.output import JsonOption, SetOption, log_shown, print_json, print_text
from plimsoll.domain.text.errors import DefinitionError, PlimsollError, UntrustedServer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.domain.campaign.campaign import Campaign
    from plimsoll.domain.keys.origins import Download
    from plimsoll.domain.text.errors import Finding
    from plimsoll.services.toolkit import Toolkit
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
    chosen = values_set(values)
    _announce(toolkit, settings, names, chosen, for_other_hosts=bool(definitions))
    ready: list[str] = []
    failed: dict[str, PlimsollError] = {}
    with log_shown():
        for name in names:
            try:
                if _prepare(toolkit, settings, name, chosen, for_other_hosts=bool(definitions)):
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


def _requested(settings: Settings, name: str, values: Mapping[str, str]) -> Campaign:
    from plimsoll.bootstrap import load_document
    from plimsoll.domain.campaign.resolve import resolve
    from plimsoll.services.campaign.open.creation import requested_definition

    return resolve(requested_definition(load_document(settings, name), values))


def _prepare(
    toolkit: Toolkit, settings: Settings, name: str, values: Mapping[str, str], *, for_other_hosts: bool
) -> bool:
    """Prepare one definition. Without `for_other_hosts`, skip it if its cells run on other machines.

    Returns whether it was prepared. Raises PlimsollError.
    """
    from plimsoll.services.campaign.open.planning import fetch

    campaign = _requested(settings, name, values)
    if not (for_other_hosts or _runs_here(toolkit, campaign)):
        return False
    fetch(toolkit, campaign)
    return True


def _runs_here(toolkit: Toolkit, campaign: Campaign) -> bool:
    provider = toolkit.providers.get(campaign.provider.name)
    return provider is not None and provider.is_local


def _announce(
    toolkit: Toolkit, settings: Settings, names: Sequence[str], values: Mapping[str, str], *, for_other_hosts: bool
) -> None:
    """Say how much is fetched, and by which of several definitions less would be. Faulty ones are told later."""
    from plimsoll.services.campaign.open.planning import download_lines, downloads, known_bytes

    needed: dict[str, Sequence[Download]] = {}
    for name in names:
        with suppress(PlimsollError):
            campaign = _requested(settings, name, values)
            if for_other_hosts or _runs_here(toolkit, campaign):
                needed[name] = [download for download in downloads(toolkit, campaign) if not download.is_there]
    by_name = {download.name: download for wanted in needed.values() for download in wanted}
    for line in download_lines(list(by_name.values())):
        typer.echo(f"{line}. What is fetched is kept in {settings.cache}")
    if by_name and not for_other_hosts:
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
    from plimsoll.domain.campaign.resolve import hosts_spec, resolve
    from plimsoll.places import shipped
    from plimsoll.services.toolkit import needs_of
    from plimsoll.settings import Settings

    settings = Settings()
    # Without a toolkit, for whose store and keys this command is not asked
    products = products_with(artefacts_in(settings), SystemClock())
    demo = resolve(load_definition(settings, str(shipped("campaigns") / "demo.yaml")))
    spec = hosts_spec(demo, needs_of(products, demo))
    return examine(settings.work, settings.cache, spec.needs.ports, memory_needed(spec, LocalOptions()))
