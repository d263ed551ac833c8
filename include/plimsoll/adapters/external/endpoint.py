"""An endpoint: a database of any kind that somebody else runs. Commands of the definition ask it, set it up and clean
up there; they run on a load host, and are given the connection's parts without an argument or a file on a disk.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from plimsoll.adapters.external.database import access_of
from plimsoll.adapters.external.endpoint_options import OWN, EndpointOptions, SecretsTable
from plimsoll.adapters.hosts.processes import ENDED, KILLED, KILLING_S, given, within
from plimsoll.domain.hosts.fingerprint import ReportedNode
from plimsoll.domain.keys.system import filled, with_values
from plimsoll.domain.text.errors import HostError, ProviderError, SecretError
from plimsoll.domain.text.wording import shortened
from plimsoll.ports.controller import Clock
from plimsoll.ports.host import MOST_INPUT_BYTES, CommandResult, Host
from plimsoll.ports.provider import ExternalDatabase
from plimsoll.ports.secrets import CommandSecrets, DatabaseAccess, DatabaseSecrets

_ASK = timedelta(seconds=30)
_CHANGE = timedelta(minutes=20)
"""The time limit of all commands of a set-up or clean-up, which is below that of the step."""
_PATIENCE = timedelta(minutes=2)
_NO = 1
"""The exit code of `owned` where nothing of the cell is there. Others tell that nobody knows."""
_MOST_FACTS = 50
_SPARE_BYTES = 4096
"""What other variables may take."""


class _Values(NamedTuple):
    """What stands in a command: the address that it asks, and the cell's own name."""

    place: tuple[str, int]
    own: str = ""


class Endpoints:
    """The endpoints that definitions name, with the secrets of their connections. Nothing is remembered."""

    def __init__(self, secrets: DatabaseSecrets, clock: Clock) -> None:
        self._secrets, self._clock = secrets, clock

    def of(self, options: EndpointOptions) -> "Endpoint":
        """Return the endpoint of these options. Raises SecretError where its connection lacks what they take of it."""
        access = access_of(self._secrets, options.connection)
        return Endpoint(options, _secrets(options, access), self._clock, hidden=(access.password, access.key))


class Endpoint:
    """One such database. `hidden`: texts that are shown nowhere, whatever a command prints."""

    def __init__(self, options: EndpointOptions, secrets: CommandSecrets, clock: Clock, hidden: Sequence[str]) -> None:
        self.options = options
        self._secrets, self._clock, self._hidden = secrets, clock, [text for text in hidden if text]

    def for_clients(self) -> ExternalDatabase:
        """Return what a load generator must know of it."""
        return ExternalDatabase(
            contact_points=tuple(name for name, _ in self.options.places),
            port=self.options.places[0][1],
            addresses=self.options.addresses,
            secrets=self._secrets_at(self.options.places[0]),
        )

    def require_ready(self, host: Host) -> None:
        """Wait until each address is ready. Raises ProviderError where one is not within two minutes."""
        until = self._clock.now() + _PATIENCE
        for address, place in zip(self.options.addresses, self.options.places, strict=True):
            while (ended := self._run(host, "ready", self.options.ready, _Values(place))).exit_code:
                if self._clock.now() >= until:
                    what = f"{address} is not ready: {_ending(ended)}"
                    mend = f"see whether it can be reached from {host.info.name}, and with which user"
                    raise _error("ready", what, mend)
                self._clock.sleep(1.0)

    def nodes(self, host: Host) -> tuple[ReportedNode, ...]:
        """Return what each address tells of itself. Raises ProviderError."""
        named = zip(self.options.addresses, self.options.places, strict=True)
        return tuple(self._node(host, address, place) for address, place in named)

    def is_owned(self, host: Host, own: str) -> bool:
        """Tell whether something of that name is there. Raises ProviderError where nobody knows."""
        if self.options.owned is None:
            return False
        ended = self._run(host, "owned", self.options.owned, _Values(self.options.places[0], own))
        if ended.exit_code not in (0, _NO):
            raise _error("owned", f"can't tell whether {own} is there: {_ending(ended)}", "see what it says")
        return ended.exit_code == 0

    def set_up(self, host: Host, own: str) -> None:
        """Make what the cell needs there. Raises ProviderError, also where `owned` does not find it afterwards."""
        self._change(host, "set_up", self.options.set_up, own)
        if self.options.set_up and not self.is_owned(host, own):
            what = f"does not find {own} after `set_up`, so that nothing would be cleaned up"
            raise _error("owned", what, "let it end with exit code 0 if what `set_up` made is there")

    def clean_up(self, host: Host, own: str) -> None:
        """Remove what is there of that name, and see that it is gone. Raises ProviderError."""
        if not self.is_owned(host, own):
            return
        self._change(host, "clean_up", self.options.clean_up, own)
        if self.is_owned(host, own):
            raise _error("clean_up", f"left {own} there, as `owned` finds", "correct it, or remove that by hand")

    def _change(self, host: Host, key: str, lines: Sequence[str], own: str) -> None:
        until = self._clock.now() + _CHANGE
        for number, line in enumerate(lines):
            left = max(until - self._clock.now(), _ASK)
            ended = self._run(host, f"{key}[{number}]", line, _Values(self.options.places[0], own), left)
            if ended.exit_code:
                raise _error(f"{key}[{number}]", _ending(ended), "see what it says, and what the user may do there")

    def _node(self, host: Host, address: str, place: tuple[str, int]) -> ReportedNode:
        version = self._asked(host, "version", self.options.version, place)
        release = next((line.strip() for line in version.splitlines() if line.strip()), "")
        facts = _facts(self._asked(host, "facts", self.options.facts, place)) if self.options.facts else {}
        return ReportedNode(address=address, data_centre="", rack="", release_version=shortened(release), facts=facts)

    def _asked(self, host: Host, key: str, line: str, place: tuple[str, int]) -> str:
        ended = self._run(host, key, line, _Values(place))
        if ended.exit_code:
            raise _error(key, _ending(ended), "see what it says")
        return ended.stdout

    def _run(self, host: Host, key: str, line: str, values: _Values, limit: timedelta = _ASK) -> CommandResult:
        """Run the command. One that hangs has the exit code of `timeout`."""
        command = filled(line, {**self.options.values(values.place), OWN: values.own})
        argv, stdin = given((*within(limit.total_seconds()), *command), self._secrets_at(values.place))
        try:
            # Longer than `timeout` needs to end and then kill the command: only so its exit code tells of that
            ended = host.run(argv, timeout=limit + 2 * timedelta(seconds=KILLING_S), check=False, stdin=stdin)
        except HostError as error:
            raise _error(key, f"could not run on the load host: {error.what}", error.mend) from error
        return CommandResult(ended.exit_code, self._shown(ended.stdout), self._shown(ended.stderr))

    def _secrets_at(self, place: tuple[str, int]) -> CommandSecrets:
        """Return what a command that asks that address is given."""
        return replace(self._secrets, env={**self.options.environment_at(place), **self._secrets.env})

    def _shown(self, text: str) -> str:
        for hidden in self._hidden:
            text = text.replace(hidden, "***")
        return text


def _secrets(options: EndpointOptions, access: DatabaseAccess) -> CommandSecrets:
    table = options.secrets or SecretsTable()
    names = {
        **dict.fromkeys(("user", "password"), access.names.login),
        "authority": access.names.authority,
        **dict.fromkeys(("certificate", "key"), access.names.certificate),
    }
    lacking = sorted(part for part in table.parts if not getattr(access, part))
    if lacking:
        named = " and ".join(dict.fromkeys(names[part] for part in lacking))
        mend = f"put {'it' if len(lacking) == 1 else 'them'} into {named}, or take what is not needed out of `secrets`"
        raise SecretError(f"has no {' and no '.join(lacking)}", where=f"connection {options.connection!r}", mend=mend)
    given_secrets = CommandSecrets(_filled(table.env, access), _filled(table.files, access))
    if len(given((), given_secrets)[1].encode()) > MOST_INPUT_BYTES - _SPARE_BYTES:
        what = f"its parts are more than the {MOST_INPUT_BYTES >> 10} KiB that a command can be given"
        mend = "give it the certificate of the one authority that signs the database's"
        raise SecretError(what, where=f"connection {options.connection!r}", mend=mend)
    return given_secrets


def _filled(texts: Mapping[str, str], access: DatabaseAccess) -> dict[str, str]:
    return {variable: with_values(text, vars(access)) for variable, text in texts.items()}


def _facts(printed: str) -> dict[str, str]:
    """Return the facts of a JSON object, as text. Raises ProviderError for anything else, and for too many."""
    try:
        facts = json.loads(printed)
    except (ValueError, RecursionError) as error:
        raise _error("facts", f"printed no JSON: {shortened(printed)!r}", 'let it print `{"name": "value"}`') from error
    if not isinstance(facts, dict) or len(facts) > _MOST_FACTS:
        raise _error("facts", f"printed no object of at most {_MOST_FACTS} facts", 'let it print `{"name": "value"}`')
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in facts.items()}
    return {shortened(name): shortened(text) for name, text in texts.items()}


def _ending(ended: CommandResult) -> str:
    """Say how a command ended, with the last line of what it printed."""
    if ended.exit_code in (ENDED, KILLED):
        return "did not end in time, and was ended"
    lines = [line.strip() for line in f"{ended.stdout}\n{ended.stderr}".splitlines() if line.strip()]
    return f"ended with exit code {ended.exit_code}" + (f": {shortened(lines[-1])}" if lines else "")


def _error(key: str, what: str, mend: str) -> ProviderError:
    return ProviderError(what, where=f"provider.options.{key}", mend=mend)
