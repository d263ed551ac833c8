"""What a definition says of an endpoint: a database of any kind that is there, which its own commands ask."""

import re
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import Annotated, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from plimsoll.adapters.external.options import ExternalOptions, TheirOptions
from plimsoll.domain.keys.faults import Fault, as_written, problems_of, require_none
from plimsoll.domain.keys.system import CommandLine, placeholders, with_values
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.errors import Problem
from plimsoll.domain.text.wording import meant_or_known

OWN = "own"
OF_ENDPOINT = {
    "contact_point": "name or address of one place that answers",
    "port": "its port",
    "addresses": "all of `addresses`, with commas",
    OWN: "a name that only this cell has, such as plimsoll_3f9a1c0b7d2e, for what it makes there",
}
"""Name → meaning of what stands for a value in the commands of an endpoint, and in those of its load."""
PARTS = ("user", "password", "authority", "certificate", "key")
"""The parts of a connection, which alone stand for a value in secrets."""
_ADDRESS = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)):(?P<port>\d{1,5})")


def _as_address(value: str) -> str:
    match = _ADDRESS.fullmatch(value)
    if match is None or not 1 <= int(match["port"]) <= 65535:
        raise ValueError("is no name or address with its port, such as db.example:5432 or [::1]:5432")
    return value


def _as_secret(value: str) -> str:
    """Return the text with the parts in braces: `password` alone means `{password}`."""
    text = f"{{{value}}}" if value in PARTS else value
    for name in placeholders(text):
        if name not in PARTS:
            raise ValueError(f"{{{name}}} stands for nothing; {meant_or_known(name, PARTS, lead='there is')}")
    if not placeholders(text):
        raise ValueError(f"has no part of the connection; write one of {', '.join(PARTS)}, alone or in braces")
    return text


_Address = Annotated[str, AfterValidator(_as_address)]
_Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
_Secret = Annotated[str, Field(max_length=1000), AfterValidator(_as_secret)]


class SecretsTable(Model):
    """Where the commands find the connection's parts. A value is a part's name, or a text with parts in braces."""

    env: Annotated[
        LeftOutIfEmpty[dict[_Variable, _Secret]],
        Field(description="Variable of the commands' environment → value: `{PGPASSWORD: password}`"),
    ] = {}
    files: Annotated[
        LeftOutIfEmpty[dict[_Variable, _Secret]],
        Field(description="Variable that names a file in memory → its content: `{PGSSLROOTCERT: authority}`"),
    ] = {}

    @property
    def parts(self) -> frozenset[str]:
        """Return the parts of the connection that are used."""
        return frozenset(name for text in (*self.env.values(), *self.files.values()) for name in placeholders(text))


class EndpointOptions(TheirOptions):
    """Where an endpoint is, how commands log in, and which of them ask it, set it up and clean up after a cell."""

    addresses: Annotated[
        tuple[_Address, ...],
        Field(min_length=1, max_length=100, description="Names or addresses with ports, such as `db.example:5432`"),
    ]
    secrets: Annotated[
        LeftOutIfEmpty[SecretsTable | None], Field(description="Where commands find user, password and certificates")
    ] = None
    environment: Annotated[
        LeftOutIfEmpty[dict[_Variable, Annotated[str, Field(max_length=1000)]]],
        Field(description="Variables of all commands that are no secrets: `{PGPORT: '{port}', PGSSLMODE: require}`"),
    ] = {}
    ready: Annotated[CommandLine, Field(description="Command that ends with exit code 0 once clients can use it")]
    version: Annotated[CommandLine, Field(description="Command whose first line of output is the release")]
    facts: Annotated[
        LeftOutIfEmpty[CommandLine | None], Field(description="Command that prints a JSON object: further facts of it")
    ] = None
    set_up: Annotated[
        LeftOutIfEmpty[tuple[CommandLine, ...]],
        Field(max_length=20, description="Commands that make what a cell needs there, named or marked `{own}`"),
    ] = ()
    owned: Annotated[
        LeftOutIfEmpty[CommandLine | None],
        Field(description="Command with exit code 0 if `{own}` is there, 1 if not, another if it can't tell"),
    ] = None
    clean_up: Annotated[
        LeftOutIfEmpty[tuple[CommandLine, ...]],
        Field(max_length=20, description="Commands that remove it, run after each cell where `owned` finds it"),
    ] = ()

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        require_none(chain(self._unowned(), self._unknown(), self._unused_secrets(), self._clashing()))
        return self

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """Return the name or address of each, with its port."""
        return tuple(_place(address) for address in self.addresses)

    @property
    def lines(self) -> Mapping[str, str]:
        """Return key → command, of all commands."""
        many = {"set_up": self.set_up, "clean_up": self.clean_up}
        lists = {f"{key}[{number}]": line for key, lines in many.items() for number, line in enumerate(lines)}
        single = {"ready": self.ready, "version": self.version, "facts": self.facts, "owned": self.owned}
        return {**{key: line for key, line in single.items() if line}, **lists}

    def environment_at(self, place: tuple[str, int]) -> dict[str, str]:
        """Return the variables with the values of that address in place."""
        return {name: with_values(text, self.values(place)) for name, text in self.environment.items()}

    def values(self, place: tuple[str, int]) -> dict[str, str]:
        """Return what stands for a value with that address, but `own`."""
        return {"contact_point": place[0], "port": str(place[1]), "addresses": ",".join(self.addresses)}

    def _unowned(self) -> list[Fault]:
        if not (self.set_up or self.clean_up):
            return []
        if not self.clean_up:
            return [Fault(("clean_up",), "is missing: what `set_up` makes would stay there", "write what removes it")]
        if not self.owned:
            what = "is missing: it must show that what `clean_up` removes was made by this cell"
            return [Fault(("owned",), what, "write a command with exit code 0 only if {own} is there")]
        if OWN not in placeholders(self.owned):
            what = "has no {own}: it would take what somebody else has made for this cell's"
            return [Fault(("owned",), what, "name or mark what `set_up` makes {own}, and ask for that")]
        return []

    def _unknown(self) -> list[Fault]:
        texts = [(_path(key), line, [*OF_ENDPOINT]) for key, line in self.lines.items()]
        fixed = [name for name in OF_ENDPOINT if name != OWN]
        texts += [(("environment", name), text, fixed) for name, text in self.environment.items()]
        return [
            Fault(path, f"{{{name}}} stands for nothing", meant_or_known(name, known))
            for path, text, known in texts
            for name in placeholders(text)
            if name not in known
        ]

    def _clashing(self) -> list[Fault]:
        table = self.secrets or SecretsTable()
        tables = {("environment",): self.environment, ("secrets", "env"): table.env, ("secrets", "files"): table.files}
        count = Counter(chain.from_iterable(tables.values()))
        return [
            Fault((*path, name), "is given twice", "give each variable once")
            if count[name] > 1
            else Fault((*path, name), "is Plimsoll's own", "give it another name")
            for path, variables in tables.items()
            for name in variables
            if count[name] > 1 or name.startswith("PLIMSOLL_")
        ]

    def _unused_secrets(self) -> list[Fault]:
        if self.secrets and not self.connection:
            return [Fault(("connection",), "is missing, and `secrets` takes parts of it", "name the connection")]
        if self.connection and not (self.secrets and self.secrets.parts):
            mend = "write e.g. `secrets: {env: {PGPASSWORD: password}}`"
            return [Fault(("secrets",), "is missing: no command is given the connection", mend)]
        return []


def _path(key: str) -> tuple[int | str, ...]:
    """Return the path of a key such as `set_up[0]`."""
    name, _, number = key.rstrip("]").partition("[")
    return (name, int(number)) if number else (name,)


def _place(address: str) -> tuple[str, int]:
    match = _ADDRESS.fullmatch(address)
    assert match is not None, "checked by the model"
    return match["v6"] or match["name"], int(match["port"])


TheirDatabase = ExternalOptions | EndpointOptions


def read_options(written: Mapping[str, object]) -> TheirDatabase | list[Problem]:
    """Return the options, or all that is wrong with them. Those with `addresses` are an endpoint's."""
    model = EndpointOptions if "addresses" in written else ExternalOptions
    try:
        return model.model_validate(as_written(written, model))
    except ValidationError as error:
        return problems_of(error, model, "provider.options")
