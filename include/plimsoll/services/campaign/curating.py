"""Write a note on a campaign, which its pages, lists and reports show, or delete it with all its measurements. The
store records who deleted it.

After an interrupted deletion no run continues the campaign, and its page says so. Deleting the campaign again completes
the deletion. The definition is deleted last, because it says who may delete the campaign.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from pydantic import AwareDatetime

from plimsoll.domain.attempt.result import LONGEST_NOTE, Note
from plimsoll.domain.hosts.owner import ProcessOwner, owner_words
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.state.reading import Memory, read_state, running_attempts
from plimsoll.services.campaign.state.runs import TAKE_OVER, before_deletion, end_run, runs_at_work
from plimsoll.services.hosts.at_rest import unmark
from plimsoll.services.hosts.reaping import living_of
from plimsoll.services.ownership import HOLD, held, require_free
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.judged import unmark_in_trends
from plimsoll.services.store.layout import Record
from plimsoll.services.store.listing import campaign_exists, noted_definitions
from plimsoll.services.toolkit import Toolkit


class Deletion(Model):
    """The record of a deletion: what was deleted, by whom, and when."""

    campaign_id: str
    by: str
    at: AwareDatetime
    attempts: int
    files: int


DELETING = Record(layout.DELETING.path, Deletion)
DELETED = Record(".deleted/<time>-<campaign_id>.json", Deletion)


def annotate(campaign: CampaignStore, text: str, by: str, at: datetime) -> Note | None:
    """Replace the campaign's note; an empty text removes it. A published report stays as it is.

    Raises Refused for a note that is too long or holds control characters, and for a campaign that is being deleted;
    NotFound when there is no such campaign.
    """
    return _written(campaign, layout.NOTE, text, by, at)


def mark_as_kept(campaign: CampaignStore, why: str, by: str, at: datetime) -> Note | None:
    """Keep the campaign's raw files from retention, for the reason given; an empty text takes the mark away.

    Raises as `annotate` does.
    """
    return _written(campaign, layout.KEEP, why, by, at)


def _written(campaign: CampaignStore, record: Record[Note], text: str, by: str, at: datetime) -> Note | None:
    campaign.definition_text()
    campaign.require_kept()
    written = sound_text(text)
    if not written:
        campaign.store.delete(record.key(campaign.campaign_id))
        return None
    note = Note(text=written, by=by, at=at)
    record.write(campaign.store, campaign.campaign_id, note)
    return note


def sound_text(text: str) -> str:
    """Return the text of a note as it is kept. Raises Refused for one too long or with control characters."""
    written = "\n".join(line.rstrip() for line in text.strip().splitlines())
    if len(written) > LONGEST_NOTE:
        mend = f"allowed: {LONGEST_NOTE}; put the rest where it can be linked to"
        raise Refused([Problem("note", f"has {len(written)} characters", mend)])
    if any(not (sign.isprintable() or sign in "\n\t") for sign in written):
        raise Refused([Problem("note", "holds control characters", "leave them out")])
    return written


def deletable(toolkit: Toolkit, campaign_id: str, by: str, *, take_over: bool = False) -> Deletion:
    """Return a summary of what deleting the campaign would delete. Raises NotFound where there is no such campaign.

    Raises Refused while the campaign has living clusters, running attempts, or a process or run that works on it, and
    where its provider can't be asked for clusters: its definition alone says where what they left is. With `take_over`,
    what may no longer exist is ignored: records of runs of another program, such as an Airflow, and silent hosts.
    """
    campaign = CampaignStore(toolkit.store, campaign_id)
    campaign.require_id()
    files = [key for key in toolkit.store.keys(campaign_id) if not key.startswith(HOLD.folder(campaign_id))]
    if not files:
        raise campaign.not_there()
    require_free(toolkit, campaign_id)
    at_work = () if take_over else runs_at_work(toolkit, campaign_id, before_deletion(campaign_id))
    running = _running(toolkit, campaign_id, take_over=take_over)
    if problems := [*at_work, *running, *_clusters(toolkit, campaign_id, take_over=take_over)]:
        raise Refused(problems, where=f"campaign {campaign_id!r}")
    attempts = sum(key.endswith(f"/{layout.ATTEMPT.path}") for key in files)
    return Deletion(campaign_id=campaign_id, by=by, at=toolkit.clock.now(), attempts=attempts, files=len(files))


def delete_campaign(toolkit: Toolkit, campaign_id: str, by: str, *, take_over: bool = False) -> Deletion:
    """Delete everything of the campaign. Raises Refused, with nothing deleted, where `deletable` does.

    A record of the deletion is written below `.deleted` in the store first.
    """
    deletion, store = deletable(toolkit, campaign_id, by, take_over=take_over), toolkit.store
    if take_over:
        end_run(store, campaign_id)
    with held(toolkit, campaign_id):
        # A run may have begun since the first check. A run that begins from here on sees the hold and is refused.
        if problems := [*runs_at_work(toolkit, campaign_id, before_deletion(campaign_id))]:
            raise Refused(problems, where=f"campaign {campaign_id!r}")
        DELETED.write(store, "", deletion, f"{deletion.at:%Y%m%dt%H%M%S}", campaign_id)
        DELETING.write(store, campaign_id, deletion)
        unmark_in_trends(store, campaign_id)
        # The hold stays until the block ends: it keeps others away, and its release writes its file once more
        for folder in store.folders(campaign_id):
            if f"{campaign_id}/{folder}" != HOLD.folder(campaign_id):
                store.delete(f"{campaign_id}/{folder}")
        for name in noted_definitions(store, campaign_id):
            store.delete(layout.CAMPAIGN_OF.key("", name, campaign_id))
        store.delete(layout.DEFINITION.key(campaign_id))
    unmark(store, campaign_id)
    unmark_in_trends(store, campaign_id)
    # Only now goes the record of the deletion, without which nobody could finish an interrupted one
    store.delete(campaign_id)
    return deletion


def interrupted_deletion(store: ResultStore, campaign_id: str) -> Deletion | None:
    """Return the deletion that was begun and not completed; None where there is none."""
    return DELETING.read_sound(store, campaign_id)


def _running(toolkit: Toolkit, campaign_id: str, *, take_over: bool) -> Iterator[Problem]:
    # An interrupted deletion leaves parts of attempts, whose state can't be read. It began only because nothing ran.
    is_begun = layout.DELETING.exists(toolkit.store, campaign_id)
    if is_begun or not campaign_exists(toolkit.store, campaign_id):
        return
    campaign = CampaignStore(toolkit.store, campaign_id).resolved()
    state = read_state(toolkit.store, campaign_id, campaign, toolkit.clock.now(), Memory(owners=toolkit.owners))
    for running in running_attempts(state):
        # A process of Plimsoll is known to live or not, and one that lives is not taken over
        if take_over and running.attempt and ProcessOwner.parse(running.attempt.owner) is None:
            continue
        owner = owner_words(running.attempt.owner) if running.attempt else "somebody"
        yield Problem(str(running.key), f"is being run by {owner}", before_deletion(campaign_id))


def _clusters(toolkit: Toolkit, campaign_id: str, *, take_over: bool) -> Iterator[Problem]:
    """Yield the campaign's living clusters of any provider, and the reason why its own provider could not be asked."""
    exists = campaign_exists(toolkit.store, campaign_id)
    own = CampaignStore(toolkit.store, campaign_id).resolved().provider.name if exists else None
    for name in toolkit.providers:
        # Hosts that only other campaigns name can't have a cluster of this one.
        everywhere, own_places = toolkit.provider_everywhere, partial(toolkit.provider_of, name, campaign_id)
        living = living_of({name: own_places if name == own else partial(everywhere, name)})
        for cluster in living.clusters:
            if cluster.id.campaign_id == campaign_id:
                yield Problem(str(cluster.id), "its cluster is alive", f"`plimsoll clusters destroy {cluster.id}`")
        if name == own:
            command = f"`plimsoll campaigns delete {campaign_id} {TAKE_OVER}`"
            gone = f"if they are gone for good, {command} deletes it all the same"
            unsaid = [(why, "") for why in living.unseen] + [(why, gone) for why in living.silent if not take_over]
            for why, mend in unsaid:
                yield Problem(f"provider {name}", f"can't say which clusters live: {why}", mend)
