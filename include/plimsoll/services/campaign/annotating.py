"""Write a note on a campaign. Its pages, lists and reports show the note."""

from datetime import datetime

from plimsoll.domain.errors import Problem, Refused
from plimsoll.domain.note import LONGEST_NOTE, Note
from plimsoll.ports.store import ReadableStore
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.records import find_sound_record


def annotate(campaign: CampaignStore, text: str, by: str, at: datetime) -> Note | None:
    """Replace the campaign's note; an empty text removes it. A published report stays as it is.

    Raises Refused for a note that is too long or holds control characters, and for a campaign that is being deleted;
    NotFound when there is no such campaign.
    """
    campaign.definition_text()
    campaign.require_kept()
    written = "\n".join(line.rstrip() for line in text.strip().splitlines())
    if len(written) > LONGEST_NOTE:
        raise _refused(
            f"has {len(written)} characters", f"allowed: {LONGEST_NOTE}; put the rest where it can be linked to"
        )
    if any(not (sign.isprintable() or sign in "\n\t") for sign in written):
        raise _refused("holds control characters", "leave them out")
    key = layout.note_key(campaign.campaign_id)
    if not written:
        campaign.store.delete(key)
        return None
    note = Note(text=written, by=by, at=at)
    campaign.store.write(key, note.model_dump_json(indent=1).encode())
    return note


def read_note(store: ReadableStore, campaign_id: str) -> Note | None:
    """Return the campaign's note; None where there is none, or this version can't read it."""
    return find_sound_record(store, layout.note_key(campaign_id), Note)


def _refused(what: str, mend: str) -> Refused:
    return Refused([Problem("note", what, mend)])
