"""`plimsoll bundle`: all that a published report is made of, as one archive."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.output import CampaignArgument, JsonOption, print_json

_File = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where to write it; by default CAMPAIGN.zip, here."),
]
_Raw = Annotated[
    bool, typer.Option("--raw", help="Include all raw files (histograms, GC logs, samples), not only their checksums.")
]


def bundle(campaign: CampaignArgument, *, output: _File = None, raw: _Raw = False, as_json: JsonOption = False) -> None:
    """Write the bundle of a campaign's published report to a file: definition, fingerprints, manifests, intervals,
    verdicts, versions and commands, with checksums. `plimsoll report FILE` makes the same report from it anywhere.
    """
    from plimsoll.bootstrap import existing_store
    from plimsoll.domain.errors import StoreError
    from plimsoll.services.publish.reproducing import bundle_with_raw, published_bundle
    from plimsoll.settings import Settings

    store, path = existing_store(Settings()), output or Path(f"{campaign}.zip")
    unfinished = path.with_name(f"{path.name}.part")
    try:
        with unfinished.open("wb") as stream:
            if raw:
                bundle_with_raw(store, campaign, stream)
            else:
                stream.write(published_bundle(store, campaign))
        unfinished.replace(path)
    except OSError as error:
        raise StoreError(f"can't be written ({error.strerror})", where=str(path), mend="choose another file") from error
    finally:
        unfinished.unlink(missing_ok=True)
    size = path.stat().st_size
    if as_json:
        print_json({"campaign_id": campaign, "bundle": str(path), "bytes": size})
        return
    typer.echo(f"bundle: {path}, {size / 1e6:.1f} MB. `plimsoll report {path}` makes its report again")
