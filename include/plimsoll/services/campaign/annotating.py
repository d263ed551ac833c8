"""Write a note on a campaign. Its pages, lists and reports show the note."""

from datetime import datetime

from pydantic import ValidationError

from plimsoll.domain.errors import NotFound, Problem, Refused
from plimsoll.domain.note import LONGEST_NOTE, Note
from plimsoll.ports.store import ReadableStore
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore


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
    """The campaign's note; None where there is none, or this version can't read it."""
    try:
        return Note.model_validate_json(store.read(layout.note_key(campaign_id)))
    except (NotFound, ValidationError):
        return None


def _refused(what: str, mend: str) -> Refused:
    return Refused([Problem("note", what, mend)])
