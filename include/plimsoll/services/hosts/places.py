"""Find the places of a provider's clusters, according to the definitions of stored campaigns."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import DefinitionError, NotFound, StoreError
from plimsoll.domain.system import ProviderChoice
from plimsoll.ports.provider import Places
from plimsoll.ports.store import ResultStore
from plimsoll.services.hosts.outage import Outage
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore, campaign_ids
from plimsoll.services.store.records import read_record


@dataclass(frozen=True)
class _Read:
    """The text of a campaign's definition as it was read last, and the provider that it chooses."""

    text: bytes
    choice: ProviderChoice


def note_place(store: ResultStore, definition: Definition) -> None:
    """Record where hosts of the definition are paid for. This outlives the campaign, whose hosts may outlive it too.

    It is written anew by every cell, so that no rule of the store that removes old files removes it meanwhile.
    """
    choice = definition.provider
    if choice.is_external:  # its own hosts are load hosts from elsewhere
        lender = choice.options.get("load_hosts")
        if not isinstance(lender, dict) or "provider" not in lender:
            return
        choice = ProviderChoice.model_validate({"name": lender["provider"], "options": lender.get("options") or {}})
    content = choice.model_dump_json().encode()
    store.write(layout.place_key(content), content)


class StoredPlaces:
    """An implementation of Whereabouts with the campaigns of a store, and the places that were noted in it.

    A definition is read each time, because a campaign that was deleted and made anew may be in another place. It is
    parsed again only if its text has changed. While the store is out of reach, the last content that was read counts.

    `at_hand` returns the definitions that can be read without the store. They are used while it is out of reach.
    """

    def __init__(
        self, store: ResultStore, outage: Outage, at_hand: Callable[[], Iterable[Definition]] = lambda: ()
    ) -> None:
        self._store, self._outage, self._at_hand = store, outage, at_hand
        self._read: dict[str, _Read] = {}
        self._noted: dict[str, ProviderChoice] = {}

    def of_campaign(self, provider: str, campaign_id: str) -> Places:
        """Return the places of the provider's clusters of the campaign.

        All known places where the store can't answer that.
        """
        try:
            choice = self._choice(campaign_id)
        except (NotFound, StoreError, DefinitionError):
            return self.known(provider)
        return Places((choice.options,)) if choice.name == provider else self.known(provider)

    def known(self, provider: str) -> Places:
        """Return the places of the provider's clusters of all campaigns, and the reason why there may be other
        places.
        """
        choices, unread = self._choices()
        if unread:
            choices += [one.provider for one in self._at_hand()]
        found: list[Mapping[str, object]] = []
        for choice in choices:
            if choice.name == provider and choice.options not in found:
                found.append(choice.options)
        if not unread:
            return Places(tuple(found), everywhere=True)
        return Places(
            tuple(found),
            f"not every campaign could be read, so clusters may be in places that are not known: {'; '.join(unread)}. "
            "Clusters are looked for where definitions at hand say. Let this machine reach the store, then try again",
            everywhere=True,
        )

    def _choices(self) -> tuple[list[ProviderChoice], list[str]]:
        """Return the provider choice of every campaign that can be read, and the reasons why others can't be read."""
        try:
            with self._outage.noticed():
                ids, noted = campaign_ids(self._store), tuple(self._store.keys(layout.PLACES))
        except StoreError as error:
            return [*(one.choice for one in self._read.values()), *self._noted.values()], [error.what]
        # Copied, because several threads may ask at once.
        self._read = {name: one for name, one in self._read.copy().items() if name in ids}
        found, unread = [], []
        reads = [(one, partial(self._choice, one)) for one in ids] + [(key, partial(self._note, key)) for key in noted]
        for name, read in reads:
            try:
                found.append(read())
            except NotFound:  # it was deleted in the meantime
                continue
            except (StoreError, DefinitionError) as error:
                unread.append(f"{name}: {error.what}")
        return found, unread

    def _note(self, key: str) -> ProviderChoice:
        if key not in self._noted:  # a key is the digest of its content, which never changes
            with self._outage.noticed():
                self._noted[key] = read_record(self._store, key, ProviderChoice)
        return self._noted[key]

    def _choice(self, campaign_id: str) -> ProviderChoice:
        known, campaign = self._read.get(campaign_id), CampaignStore(self._store, campaign_id)
        try:
            with self._outage.noticed():
                text = campaign.definition_text()
        except StoreError:
            if known is None:
                raise
            return known.choice
        if known is None or known.text != text:
            known = self._read[campaign_id] = _Read(text, campaign.parsed(text).provider)
        return known.choice
