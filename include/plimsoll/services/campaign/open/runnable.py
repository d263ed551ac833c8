"""Check whether a campaign can run here: problems of provider, databases, load generator, store and budget."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.campaign.resolve import load_spec, product_spec, resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.owner import owner_words
from plimsoll.domain.text.errors import Problem, ProviderError, Refused, SecretError, StoreError
from plimsoll.domain.text.wording import meant_or_known
from plimsoll.ports.load_generator import LoadGenerator
from plimsoll.ports.product import Product
from plimsoll.services.definitions.documents import Document
from plimsoll.services.definitions.schedules import schedule_problems
from plimsoll.services.hosts.limits import price_missing
from plimsoll.services.hosts.paid_hosts import account_problems
from plimsoll.services.store.listing import campaign_exists
from plimsoll.services.toolkit import Toolkit

_COMMAND = "command"


def problems(toolkit: Toolkit, definition: Definition, campaign_id: str = "") -> Sequence[Problem]:
    """Return all problems that keep the campaign from running here, reported by provider, database and load generator.

    `campaign_id`: the campaign that goes on, where it is known. Raises SecretError where the provider can't be asked
    because credentials are missing.
    """
    campaign = resolve(definition)
    faults = (
        *_checked(toolkit.providers, "provider.name", campaign.provider.name, toolkit.hosts_spec(campaign)),
        *_keyspace_problems(toolkit, campaign, campaign_id),
        *account_problems(toolkit, campaign, campaign_id),
        *problems_but_of_provider(toolkit, definition),
    )
    return tuple(dict.fromkeys(faults))


def problems_known_here(toolkit: Toolkit, definition: Definition) -> tuple[Sequence[Problem], list[str]]:
    """Return every problem found, and a note if the provider could not be asked: then of all that does not need it."""
    try:
        return problems(toolkit, definition), []
    except SecretError as error:
        provider = f"provider {definition.provider.name!r}"
        unasked = f"{provider} can't be asked from here, nothing was checked with it: {error.headline}"
        return problems_but_of_provider(toolkit, definition), [unasked]


def problems_but_of_provider(toolkit: Toolkit, definition: Definition) -> Sequence[Problem]:
    """Return the problems that are found without asking the provider, as where its credentials are missing."""
    campaign = resolve(definition)
    return (
        *_kept_hosts_problems(toolkit, campaign),
        *_kept_data_problems(toolkit, campaign),
        *software_problems(toolkit, definition),
        *_store_problems(toolkit),
        *_budget_problems(toolkit, campaign),
    )


def software_problems(toolkit: Toolkit, definition: Definition) -> Sequence[Problem]:
    """Return problems of the database, the load generator, their artefacts and the schedule, for any provider."""
    campaign = resolve(definition)
    faults = (
        *(
            problem
            for name in campaign.products
            for problem in _checked(toolkit.products, campaign.key_of_product(name), name, product_spec(campaign, name))
        ),
        *_generator_problems(toolkit, campaign),
        *_action_problems(toolkit, campaign),
        *schedule_problems(definition),
    )
    return tuple(dict.fromkeys(faults))  # database and load generator both report an artefact that both lack


def require_runnable(
    toolkit: Toolkit, definition: Definition, document: Document | None = None, campaign_id: str = ""
) -> None:
    """Raise Refused, with every problem, unless the campaign can run here. `document`: the definition's file."""
    if faults := problems(toolkit, definition, campaign_id):
        raise Refused(document.located(faults) if document else faults, where=f"definition {definition.name!r}")


def _keyspace_problems(toolkit: Toolkit, campaign: Campaign, campaign_id: str) -> Iterator[Problem]:
    """Yield whose keyspace is where the campaign's cells would make theirs, in a database of somebody else.

    What the campaign itself has left there is no problem: its next cell drops it.
    """
    if campaign.provider.name not in toolkit.providers:
        return
    try:
        occupant = toolkit.provider(campaign).occupant()
    except (ProviderError, SecretError, ValueError):  # its own check reports why it can't be asked
        return
    if occupant is None or (occupant.is_ours and occupant.cluster.campaign_id == campaign_id):
        return
    cluster, where, instead = occupant.cluster, "provider.options.keyspace", "or name another keyspace"
    keyspace, command = f"the keyspace {occupant.keyspace!r}", f"`plimsoll clusters destroy {cluster}`"
    wait = f"wait until that has ended; where it has, {command}"
    if not occupant.is_ours:
        mend = f"{wait} with PLIMSOLL_STORE={occupant.store} drops it; {instead}"
        yield Problem(where, f"{keyspace} is that of {cluster} of another store, {occupant.store}", mend)
    elif not campaign_exists(toolkit.store, cluster.campaign_id):
        what = f"{keyspace} was left by {cluster}, whose campaign is no longer in the store"
        yield Problem(where, what, f"drop it by hand: `DROP KEYSPACE {occupant.keyspace}`; {instead}")
    elif toolkit.owners.is_alive(occupant.owner) is False:
        what = f"{keyspace} was left by {cluster}, which nobody runs any more"
        yield Problem(where, what, f"{command} drops it; {instead}")
    else:
        mend = f"{wait} drops it; {instead}"
        yield Problem(where, f"{keyspace} is in use by {cluster} of {owner_words(occupant.owner)}", mend)


def _generator_problems(toolkit: Toolkit, campaign: Campaign) -> Iterator[Problem]:
    """Yield problems of each workload by itself, at the key where the definition has the workload.

    Among them is a `data_per_node` for which the load generator or a database can't count rows.
    """
    for part in campaign.parts:
        choice = part.load_generator.name
        for problem in _checked(toolkit.load_generators, "load_generator.name", choice, load_spec(part)):
            yield replace(problem, where=part.key(problem.where))
    generator = toolkit.load_generators.get(campaign.load_generator.name)
    sized = [part for part in campaign.parts if part.workload.data_per_node is not None]
    # All parts have the same load generator and databases, so the first place stands for all
    for part in sized[:1]:
        where, mend = part.key("workload.data_per_node"), "give the number of rows instead"
        if generator is not None and not generator.can_sample:
            yield Problem(where, f"{generator.name} can't count how many rows make a size", mend)
        for product in _known_products(toolkit, campaign):
            if not product.measures_rows:
                yield Problem(where, f"{product.name} does not tell what rows take on disk", mend)
    if generator is not None:
        yield from _unable(generator, campaign)


def _known_products(toolkit: Toolkit, campaign: Campaign) -> list[Product]:
    return [toolkit.products[product] for product in campaign.products if product in toolkit.products]


def _unable(generator: LoadGenerator, campaign: Campaign) -> Iterator[Problem]:
    """Yield what the load generator can't do: share a load, end it early or by a rule, close its loop, log in."""
    hosts = campaign.load_generator.hosts
    if hosts > 1 and not generator.can_wait:
        what = f"{generator.name} can't share a load among {hosts} load hosts"
        yield Problem("load_generator.hosts", what, "write `hosts: 1`, or use plimsoll-stress")
    if least := [cell.load_ops_s for cell in grid(campaign) if 0 < cell.load_ops_s < hosts]:
        what = f"{min(least)} ops/s can't be shared among {hosts} load hosts"
        yield Problem("load_generator.hosts", what, f"write at most {min(least)}")
    if not generator.can_end_early:
        what = f"{generator.name} can't end a load early: it judges no interval"
        mend = "take plimsoll-stress, or remove the key"
        yield from _in_each(campaign, "timing.stop", lambda part: part.timing.stop is not None, what, mend)
    if not generator.can_close_loop:
        what = f"{generator.name} is not run in a closed loop"
        mend = (
            "take plimsoll-stress, or remove the key. What this program did in a closed loop elsewhere comes in by "
            "`plimsoll import`, with the rates that it reached as loads, or is judged alone by `plimsoll judge`"
        )
        yield from _in_each(campaign, "loop", lambda part: "rate" not in part.knows, what, mend)
    for number, rule in enumerate(campaign.stop_when):
        if why := generator.unkept(rule, campaign.load_generator):
            what = f"{generator.name} can't end a load by this rule: {why}"
            yield Problem(f"stop_when[{number}]", what, generator.mend_of_unkept)
    if campaign.provider.is_endpoint:
        if not generator.loads_endpoints:
            what = f"{generator.name} speaks to clusters that it knows, and not to any address"
            yield Problem("load_generator.name", what, "write `command`, and its commands; or `contact_points` for CQL")
    elif campaign.provider.owns != "cluster" and not generator.logs_in:
        what = f"{generator.name} can't log in to an external cluster: a password would stand in its command line"
        mend = "write plimsoll-stress, which is given it unseen; or `addresses` in the place of `contact_points`"
        yield Problem("load_generator.name", what, mend)


def _in_each(campaign: Campaign, key: str, has: Callable[[Part], bool], what: str, mend: str) -> Iterator[Problem]:
    keys = (part.key(key) for part in campaign.parts if has(part))
    for where in dict.fromkeys(keys):
        yield Problem(where, what, mend)


def _action_problems(toolkit: Toolkit, campaign: Campaign) -> Iterator[Problem]:
    """Yield problems of actions that a product can't do, or that a load can't wait for."""
    generator = toolkit.load_generators.get(campaign.load_generator.name)
    products = _known_products(toolkit, campaign)
    for part in campaign.parts:
        action = part.action
        if part.action_before_load and generator is not None and not generator.can_wait:
            what = f"{generator.name} can't wait with its load for the end of an action"
            yield Problem(part.key("action.name"), what, "take plimsoll-stress, or write `at`")
        for product in products if action else ():
            if action and action.name not in product.actions:
                what = f"Plimsoll can't do {action.name} to {product.name}"
                mend = meant_or_known(action.name, product.actions, lead="it can do") or "remove the action"
                if len(products) > 1:
                    mend += f"; or put the variants of {product.name} into a definition without this stage, and compare"
                yield Problem(part.key("action.name"), what, mend)


def _checked(adapters: Any, key: str, name: str, asked: Any) -> Sequence[Problem]:
    if name not in adapters:
        mend = meant_or_known(name, adapters, lead="there is")
        if _COMMAND in adapters:
            kind = "program puts on a load" if key.startswith("load_generator") else "database runs"
            mend += f"; any other {kind} by its own command lines, as {_COMMAND!r}"
        return [Problem(key, f"there is no {name!r} here", mend)]
    faults: Sequence[Problem] = adapters[name].check(asked)
    return faults


def _kept_hosts_problems(toolkit: Toolkit, campaign: Campaign) -> Sequence[Problem]:
    provider = toolkit.providers.get(campaign.provider.name)
    if campaign.cluster_scope == "cell" or provider is None or provider.keeps_hosts:
        return []
    what = f"hosts kept for a {campaign.cluster_scope} are not supported by provider {provider.name} yet"
    return [Problem("cluster_scope", what, "write `cluster_scope: cell`, or use a provider that keeps hosts")]


def _kept_data_problems(toolkit: Toolkit, campaign: Campaign) -> Iterator[Problem]:
    """Yield what keeps a ramp's loads from sharing their data: hosts that end with a cell, a generator that must
    populate.
    """
    sharing = [part for part in campaign.parts if part.data_scope == "repeat"]
    generator = toolkit.load_generators.get(campaign.load_generator.name)
    for where in dict.fromkeys(part.key("strategy.data") for part in sharing):
        if campaign.cluster_scope == "cell":
            what = "loads can share their data only on hosts that are kept"
            yield Problem(where, what, "write `cluster_scope: campaign` or `cluster_scope: variant`, or `data: fresh`")
        if generator is not None and not generator.can_go_on:
            what = f"{generator.name} can't run on rows that an earlier load has left"
            yield Problem(where, what, "use plimsoll-stress, or write `data: fresh`")


def _budget_problems(toolkit: Toolkit, campaign: Campaign) -> Sequence[Problem]:
    key, limit = campaign.money
    try:
        tariff = toolkit.tariff(campaign) if limit is not None else None
    except ProviderError:  # the provider's options are wrong, which its own check reports
        return []
    if tariff is None or tariff.usd_per_cluster_hour(campaign.node_hosts, campaign.load_generator.hosts) is not None:
        return []
    return [price_missing(key, tariff)]


def _store_problems(toolkit: Toolkit) -> Sequence[Problem]:
    try:
        toolkit.store.check()
    except StoreError as error:
        return [Problem(f"store {error.where}", error.what, error.mend)]
    return []
