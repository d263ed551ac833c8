"""`plimsoll report`: publish a report again, from the store or from its bundle; `plimsoll bundle`: make that bundle."""

import os
import resource
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path
from secrets import token_hex
from typing import IO, TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.output import CampaignArgument, JsonOption, open_store, print_json, print_text, show_answer, writing
from plimsoll.domain.keys import host_bounds
from plimsoll.domain.text.errors import NotFound, StoreError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from plimsoll.services.publish.reproducing import ReproducedReport

_Source = Annotated[
    str, typer.Argument(metavar="CAMPAIGN|BUNDLE", help="Id of a campaign in the store, or the path of a bundle.")
]
_Into = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Where to write a bundle's report; by default a new folder here, named after the campaign.",
    ),
]


_Incomplete = Annotated[
    bool,
    typer.Option(
        "--incomplete",
        help="Publish what is valid although cells have no valid attempt. The report is marked and names them.",
    ),
]

_File = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where to write it; by default CAMPAIGN.zip, here."),
]

_Raw = Annotated[
    bool, typer.Option("--raw", help="Include all raw files (histograms, GC logs, samples), not only their checksums.")
]


def report(
    source: _Source, *, into: _Into = None, incomplete: _Incomplete = False, as_json: JsonOption = False
) -> None:
    """Check the campaign's quality and publish its report, from what the store holds.

    If the quality gate does not pass, the command names the cells to run again and exits with 2. With --incomplete
    cells without a valid attempt do not keep it from passing, as long as there is a valid one.

    With a BUNDLE (the file `bundle.zip` of a report) the command makes that report again in a folder, with the same
    date and without a store. Exits with 1 if files differ from those of the first report in any byte, and names them.
    Exits with 2 if the bundle is damaged or was made by a newer Plimsoll.
    """
    # No id of a campaign has a dot or a slash.
    if "." in source or "/" in source:
        if incomplete:
            raise typer.BadParameter("is for campaigns: a bundle's report stays as it was", param_hint="--incomplete")
        _again(Path(source), into, as_json)
    elif into is not None:
        raise typer.BadParameter("is for bundles: a campaign's report goes to the store", param_hint="--into")
    else:
        _publish(source, incomplete, as_json)


def _publish(campaign: str, incomplete: bool, as_json: bool) -> None:
    from plimsoll.bootstrap import build_toolkit, existing_store
    from plimsoll.services.publish.publishing import capacity_rows, publish_report
    from plimsoll.services.store.judged import published_without
    from plimsoll.settings import Settings

    settings = Settings()
    # A misspelt folder must not look like a store that lacks the campaign
    existing_store(settings)
    toolkit = build_toolkit(settings)
    url = publish_report(toolkit, campaign, incomplete=incomplete)
    if as_json:
        missing = published_without(toolkit.store, campaign)
        mark = {"incomplete": missing} if missing else {}
        print_json({"campaign_id": campaign, "report": url, **mark, "capacity": capacity_rows(toolkit, campaign)})
        return
    show_answer(toolkit, campaign, url)


def _again(bundle: Path, into: Path | None, as_json: bool) -> None:
    from plimsoll.adapters.code_version import code_version
    from plimsoll.services.publish.reproducing import report_again
    from plimsoll.services.store.layout import REPORT

    try:
        with bundle.open("rb") as stream, _bounded_memory():
            remade = report_again(stream, str(bundle), code_version())
    except OSError as error:
        raise NotFound(f"can't be read ({error.strerror})", where=str(bundle)) from error
    folder = into or Path(f"{remade.campaign_id}-report")
    _write(folder, remade.files)
    summary = {
        "campaign_id": remade.campaign_id,
        "report": str(folder / REPORT),
        "files": len(remade.files),
        "differing": remade.differing,
        "versions": remade.versions,
        "other_fonts": remade.other_fonts,
    }
    if as_json:
        print_json(summary)
    else:
        print_text(f"report: {folder / REPORT}\n{_comparison(remade)}")
    raise typer.Exit(1 if remade.differing else 0)


@contextmanager
def _bounded_memory() -> Iterator[None]:
    """Bound the memory that a stranger's bundle makes this take: a table's file can claim to be smaller than it is."""
    # The limit is on all data of the process, so the data that it has already are added
    used_bytes = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bounds = (used_bytes + host_bounds.MOST_MEMORY_OF_A_BUNDLE, before, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (min(bound for bound in bounds if bound != resource.RLIM_INFINITY), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    try:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            is_other = path.exists() and not path.is_file()
            if is_other or not path.resolve().is_relative_to(folder.resolve()):
                what = "is no file, or a link out of the folder"
                raise StoreError(what, where=str(path), mend="give another folder with `--into`")
            path.write_bytes(content)
    except OSError as error:
        what, mend = f"can't be written ({error.strerror})", "give another folder with `--into`"
        raise StoreError(what, where=str(error.filename or folder), mend=mend) from error


def _comparison(remade: "ReproducedReport") -> str:
    count = len(remade.files)
    if not remade.differing:
        return f"all {count} files are those of the first report, byte for byte"
    changed = "".join(f"\n  {name}: {then}, now {now}" for name, (then, now) in remade.versions.items())
    why = f"\nmade by other versions than the first:{changed}" if changed else ""
    if remade.other_fonts:
        why += f"\nfonts of this machine draw what Plimsoll's font does not have: {remade.other_fonts}"
    return f"of {count} files these are not those of the first report: {', '.join(remade.differing)}{why}"


class _Pipe(BufferedWriter):
    """A stream to what has no positions, such as a pipe: it tells the number of bytes that were written."""

    written = 0

    def write(self, content: "ReadableBuffer") -> int:
        self.written += memoryview(content).nbytes
        return super().write(content)

    def tell(self) -> int:
        return self.written


@contextmanager
def _whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that has its name only once it is whole. What is no regular file, such as a pipe, is written to."""
    if path.exists() and not path.is_file():
        with path.open("wb", buffering=0) as raw, _Pipe(raw) as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))  # a link goes on to lead there
    unfinished = target.with_name(f".{token_hex(8)}.part")
    try:
        with unfinished.open("xb") as stream:
            yield stream
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def bundle(campaign: CampaignArgument, *, output: _File = None, raw: _Raw = False, as_json: JsonOption = False) -> None:
    """Write the bundle of a campaign's published report to a file: definition, fingerprints, manifests, intervals,
    verdicts, versions and commands, with checksums. `plimsoll report FILE` makes the same report from it anywhere.
    """
    from plimsoll.services.publish.reproducing import bundle_with_raw, published_bundle

    store, path = open_store(), output or Path(f"{campaign}.zip")
    with writing(path), _whole_file(path) as stream:
        if raw:
            bundle_with_raw(store, campaign, stream)
        else:
            stream.write(published_bundle(store, campaign))
        size = stream.tell()
    is_file = path.is_file()  # else it may be standard output, and what is said there would follow the bundle
    if as_json:
        print_json({"campaign_id": campaign, "bundle": str(path), "bytes": size}, err=not is_file)
        return
    again = f". `plimsoll report {path}` makes its report again" if is_file else ""
    typer.echo(f"bundle: {path}, {size / 1e6:.1f} MB{again}", err=not is_file)
