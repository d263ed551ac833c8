"""Check a whole store, campaign by campaign, and what belongs to no campaign."""

from collections.abc import Iterator, Sequence

from plimsoll.domain.text.errors import DamagedRecord, NotFound, StoreError
from plimsoll.ports.store import ListedFile
from plimsoll.services.housekeeping.checking import LOOK, YOUNG, check_campaign_files
from plimsoll.services.housekeeping.faults import Checked, Fault, OnBytes, OnCampaign
from plimsoll.services.housekeeping.known import files_of_no_campaign, place_in_store
from plimsoll.services.store.layout import Record
from plimsoll.services.store.listing import campaign_folders
from plimsoll.services.toolkit import Toolkit

_PROBE = ".plimsoll-check-"
_DROP = "`--mend` removes it"


def check_store(
    toolkit: Toolkit, named: Sequence[str], on_bytes: OnBytes, on_campaign: OnCampaign
) -> Iterator[Checked]:
    """Check the named campaigns, else the whole store. Raises NotFound for a campaign that is not there."""
    for campaign_id in named or campaign_folders(toolkit.store):
        on_campaign(campaign_id)
        try:
            yield check_campaign_files(toolkit, campaign_id, on_bytes)
        except NotFound:  # deleted meanwhile
            if named:
                raise
    if not named:
        yield _check_rest(toolkit)


def _check_rest(toolkit: Toolkit) -> Checked:
    store, now = toolkit.store, toolkit.clock.now()
    files = tuple(files_of_no_campaign(store))
    faults = [fault for file in files for fault in _of_file(toolkit, file)]
    in_progress = [file.key for file in files if place_in_store(file.key) is None and now - file.changed_at < YOUNG]
    try:
        for upload in store.unfinished():
            if now - upload.begun_at < YOUNG:
                in_progress.append(upload.name)
                continue
            what = f"is of an upload that began {upload.begun_at:%Y-%m-%d %H:%M} UTC and never ended"
            faults.append(Fault("unfinished", "", upload.name, what, _DROP, remedy="drop", unfinished=upload))
    except StoreError as error:  # a right that nothing else needs
        what = f"nobody can tell which uploads never ended: {error.what}"
        faults.append(Fault("unreadable", "", "", what, error.mend))
    return Checked("", tuple(faults), tuple(in_progress), len(files))


def _of_file(toolkit: Toolkit, file: ListedFile) -> Iterator[Fault]:
    place = place_in_store(file.key)
    if isinstance(place, Record):
        try:
            place.at(toolkit.store, file.key)
        except NotFound:
            return
        except DamagedRecord as error:
            yield Fault("unreadable", "", file.key, error.what, error.mend)
    elif place is None and toolkit.clock.now() - file.changed_at >= YOUNG:
        if file.key.startswith(_PROBE):
            what = "is left of a check whether the store can be written"
            yield Fault("unreferenced", "", file.key, what, _DROP, remedy="drop")
        else:
            yield Fault("unreferenced", "", file.key, "belongs to no campaign", LOOK)
