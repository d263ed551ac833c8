"""What the three programs are given and what they print: JSON, with the owner's tags by which hosts are found again.

The guide `any-cloud.md` is its description for people who write programs.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from plimsoll.adapters.hosts.reached import HostOptions
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest, Role, is_load_host, load_host_name
from plimsoll.domain.keys.faults import problems_of
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import Problem
from plimsoll.domain.text.wording import shortened

PREFIX = "plimsoll-"
_MOST_HOSTS = 5000
_SHOWN = 300

_OF_LAUNCH = ("store", "cluster", "token", "nodes", "load-hosts")

_Text = Annotated[str, Field(max_length=300)]
_LongText = Annotated[str, Field(max_length=1000)]


class Garbage(ValueError):
    """Output of a program that does not keep to the contract. `mend` says what it must print instead."""

    def __init__(self, what: str, mend: str) -> None:
        super().__init__(what)
        self.mend = mend


class Tags(Model):
    """Whose a host is, as its tags say it. Tags of others beside them are left alone."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", populate_by_name=True, alias_generator=lambda name: PREFIX + name.replace("_", "-")
    )

    store: Annotated[_Text, Field(description="The installation, by its result store")]
    cluster: Annotated[_Text, Field(description="`campaign/cell/attempt`")]
    owner: Annotated[_Text, Field(description="Who asked for it")]
    created: Annotated[AwareDatetime, Field(description="When it was asked for")]
    expires: Annotated[AwareDatetime, Field(description="When Plimsoll ends it at the latest, if not kept for longer")]
    nodes: Annotated[int, Field(ge=0, le=1000, description="Database nodes of the whole cluster")]
    load_hosts: Annotated[int, Field(ge=1, le=32, description="Load hosts of the whole cluster")]
    token: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$", description="Names the launch")]

    @property
    def id(self) -> ClusterId:
        """Return the cluster's id. Raises ValueError where it is none."""
        try:
            return ClusterId.parse(self.cluster)
        except ValueError as error:
            what = f"`{PREFIX}cluster` is {shortened(self.cluster)!r}, no `campaign/cell/attempt`"
            raise ValueError(what) from error

    @property
    def names(self) -> tuple[str, ...]:
        return host_names(self.nodes, self.load_hosts)

    def as_text(self) -> dict[str, str]:
        """Return them as every cloud can keep them: names and texts."""
        return {name: str(value) for name, value in self.model_dump(mode="json", by_alias=True).items()}


def role_of(name: str) -> Role:
    return "load" if is_load_host(name) else "node"


class AnsweredHost(HostOptions):
    """A host as a program prints it: who it is, whose it is, and how to log in."""

    id: Annotated[_Text, Field(min_length=1, description="What names it in its cloud, and never another one")]
    name: Annotated[str, Field(pattern=r"^(node|load)\d*$", description="Its name as `launch` was given it")]
    tags: Annotated[dict[_Text, _LongText], Field(description="As `launch` was given them")]
    zone: Annotated[_Text, Field(description="Where it is")] = ""
    type: Annotated[_Text, Field(description="What it is, such as a machine type")] = ""
    usd_per_hour: Annotated[
        float | None, Field(ge=0, allow_inf_nan=False, description="Its price; else that of the options")
    ] = None

    @property
    def role(self) -> Role:
        return role_of(self.name)

    @property
    def owned(self) -> Tags:
        """Return whose it is. It was checked when the answer was read."""
        return Tags.model_validate(self.tags)

    def __str__(self) -> str:
        return f"{self.name} ({self.id}, {self.address})"


class Answer(Model):
    """What `launch` and `list` print."""

    hosts: Annotated[tuple[AnsweredHost, ...], Field(max_length=_MOST_HOSTS)]


class RequestedHost(Model):
    """A host that `launch` is to make."""

    name: str
    role: Role


class LaunchInput(Model):
    """What `launch` is given."""

    format: Literal[1] = 1
    token: Annotated[str, Field(description="Launched again with the same token, hosts are printed and not made twice")]
    tags: Annotated[dict[str, str], Field(description="To be kept with every host, and printed by `list`")]
    hosts: tuple[RequestedHost, ...]
    public_key: Annotated[str, Field(description="Whose private part logs in: a line of `authorized_keys`")]
    user: Annotated[str, Field(description="Who logs in by the connection; empty: whom the program names")]
    ports: Annotated[tuple[int, ...], Field(description="TCP ports of the nodes that hosts of the cluster use")]
    expires_at: AwareDatetime
    options: dict[str, JsonValue]


class ListInput(Model):
    """What `list` is given."""

    format: Literal[1] = 1
    tags: Annotated[dict[str, str], Field(description="Those of the installation, which all its hosts carry")]
    options: dict[str, JsonValue]


class EndInput(Model):
    """What `end` is given."""

    format: Literal[1] = 1
    tags: Annotated[dict[str, str], Field(description="Those of the cluster, which all its hosts carry")]
    ids: Annotated[tuple[str, ...], Field(description="Hosts of it that are known; there may be others with its tags")]
    options: dict[str, JsonValue]


def host_names(nodes: int, load_hosts: int) -> tuple[str, ...]:
    """Return the names of a cluster's hosts, the nodes first."""
    loads = (load_host_name(number) for number in range(1, load_hosts + 1))
    return (*(f"node{number}" for number in range(1, nodes + 1)), *loads)


def tags_of(request: ClusterRequest, store: str, token: str, now: datetime) -> Tags:
    return Tags(
        store=store,
        cluster=str(request.id),
        owner=request.owner,
        created=now,
        expires=request.expires_at,
        nodes=request.nodes,
        load_hosts=request.load_hosts,
        token=token,
    )


def parse_hosts(printed: bytes, store: str) -> tuple[AnsweredHost, ...]:
    """Return the installation's hosts in an answer; others', by their tags, are not looked at. Raises Garbage."""
    tagged = [entry for entry in _entries(printed) if isinstance(entry.get("tags"), dict)]
    own = [entry for entry in tagged if entry["tags"].get(f"{PREFIX}store") == store]
    try:
        hosts = Answer.model_validate({"hosts": own}).hosts
    except ValidationError as error:
        raise _not_as_agreed(problems_of(error, Answer)) from error
    try:
        for host in hosts:
            # Reading them raises what is wrong with the host's tags
            _ = host.owned.id
    except ValidationError as error:
        raise _not_as_agreed(problems_of(error, Tags, "tags")) from error
    except ValueError as error:
        raise Garbage(f"tags name no cluster: {error}", "print each host's tags as `launch` was given them") from error
    return hosts


def _not_as_agreed(problems: Sequence[Problem]) -> Garbage:
    some = "; ".join(map(str, problems[:5]))
    return Garbage(f"hosts are not as the contract has them: {some}", "correct these keys")


def require_asked(hosts: Sequence[AnsweredHost], tags: Tags) -> None:
    """Raise Garbage unless these are the hosts that were asked for with these tags, each once.

    Those of an earlier launch with that token may have had another owner and another expiry.
    """
    expected = {name: value for name, value in tags.as_text().items() if name.removeprefix(PREFIX) in _OF_LAUNCH}
    for host in hosts:
        if changed := sorted(name for name, value in expected.items() if host.tags.get(name) != value):
            what = f"{host} does not have the tags that it was given: {', '.join(changed)}"
            raise Garbage(what, "keep each tag with its host as it is, and print it again")
    if Counter(host.name for host in hosts) != Counter(tags.names):
        printed = _listed(host.name for host in hosts)
        what = f"hosts {_listed(tags.names)} were asked for, and {printed} printed with their tags"
        raise Garbage(what, "make each host that is asked for once, or none, and print its `name` and its `tags`")
    for key, values in (("id", [host.id for host in hosts]), ("address", [host.address for host in hosts])):
        if twice := [value for value, count in Counter(values).items() if count > 1]:
            raise Garbage(f"hosts have the same {key}: {', '.join(twice)}", "print each host with its own")


def schema() -> dict[str, Any]:
    models = (LaunchInput, ListInput, EndInput, Answer)
    _, schemas = TypeAdapter.json_schemas([(model.__name__, "validation", TypeAdapter(model)) for model in models])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schemas}


def _entries(printed: bytes) -> Iterable[Any]:
    mend = 'print one JSON object on the standard output, `{"hosts": […]}`, and all words on the error output'
    try:
        answer = json.loads(printed)
    except (ValueError, RecursionError) as error:
        raise Garbage(f"what it printed is no JSON: {_shown(printed)}", mend) from error
    if not isinstance(answer, dict) or answer.keys() != {"hosts"} or not isinstance(answer["hosts"], list):
        raise Garbage(f"what it printed is no object with the key `hosts` alone: {_shown(printed)}", mend)
    if wrong := [entry for entry in answer["hosts"] if not isinstance(entry, dict)]:
        raise Garbage(f"a host is no object: {shortened(repr(wrong[0])[:_SHOWN])}", mend)
    return list(answer["hosts"])


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _shown(printed: bytes) -> str:
    return repr(shortened(printed[:_SHOWN].decode(errors="replace").strip())) if printed.strip() else "nothing"
