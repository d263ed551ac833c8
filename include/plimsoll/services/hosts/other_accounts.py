"""Hosts of a campaign in another account than the one that its connection leads to, through which nobody ends them."""

from collections.abc import Iterator, Sequence

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.hosts.cluster import Launch
from plimsoll.domain.text.errors import Problem, ProviderError
from plimsoll.services.hosts.cost.accounts import open_accounts
from plimsoll.services.hosts.launch_records import read_launches
from plimsoll.services.store.campaigns import CampaignStore, campaign_exists
from plimsoll.services.toolkit import Toolkit


def account_problems(toolkit: Toolkit, campaign: Campaign, campaign_id: str) -> Iterator[Problem]:
    """Yield where hosts of the campaign live in another account than the definition's connection leads to.

    Where that can't be told, the provider that the campaign had so far may go on.
    """
    source, launches = campaign.provider.hosts_from, _living(toolkit, campaign_id)
    if source is None or not launches:
        return
    where = f"{source.key}.connection"
    try:
        account = toolkit.provider(campaign).account()
    except ProviderError as error:
        if CampaignStore(toolkit.store, campaign_id).declared().provider != campaign.provider:
            what = f"the account that it leads to can't be told, and hosts of the campaign live: {error.headline}"
            yield Problem(where, what, error.mend)
        return
    if not account:  # its hosts are in none
        return
    for other in dict.fromkeys(launch.account for launch in launches if launch.account != account):
        yield _problem(where, account, [launch for launch in launches if launch.account == other])


def _living(toolkit: Toolkit, campaign_id: str) -> list[Launch]:
    """Return the launches of the campaign whose hosts live, as far as is on record, in a known account."""
    campaign, now = CampaignStore(toolkit.store, campaign_id), toolkit.clock.now()
    if not campaign_id or not campaign_exists(toolkit.store, campaign_id):
        return []
    try:
        clusters = open_accounts(campaign)
    except ValueError:  # files of others lie among the accounts: a reader of the campaign's costs gets the error
        return []
    launches = [launch for cluster_id in clusters for launch in read_launches(toolkit.store, cluster_id)]
    return [one for one in launches if one.account and one.living and now < (one.ends_at or one.expires_at)]


def _problem(where: str, account: str, launches: Sequence[Launch]) -> Problem:
    clusters = list(dict.fromkeys(str(launch.id) for launch in launches))
    what = f"leads to the account {account}, and hosts of {', '.join(clusters)} live in {launches[0].account}"
    through = ", ".join(dict.fromkeys(launch.place["connection"] for launch in launches))
    ends = ", ".join(f"`plimsoll clusters destroy {cluster}`" for cluster in clusters)
    mend = f"they were launched through {through}: write that, or first let them end; {ends} ends them"
    return Problem(where, what, mend)
