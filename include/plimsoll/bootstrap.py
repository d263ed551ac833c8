"""Wire the ports by the settings. No other module knows which adapters exist."""

from __future__ import annotations

import importlib
import logging
import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.hosts.processes import LocalProcesses
from plimsoll.adapters.on_demand import OnDemand
from plimsoll.adapters.stores.local_files import DefinitionFolder
from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.host_bounds import Disturbance
from plimsoll.domain.keys.system import ProviderChoice
from plimsoll.domain.text.errors import PlimsollError, Problem, Refused, StoreError
from plimsoll.ports.artefacts import ArtefactSource
from plimsoll.ports.controller import Clock
from plimsoll.ports.product import Product
from plimsoll.ports.provider import Places, Provider, Tariffs
from plimsoll.ports.secrets import DatabaseSecrets, Secrets
from plimsoll.ports.store import DirectStore, ResultStore
from plimsoll.services.definitions.documents import Document, parse_yaml
from plimsoll.services.definitions.reference import parse_definition
from plimsoll.services.hosts.at_rest import StoredSetUps
from plimsoll.services.hosts.paid_hosts import StoredLaunches
from plimsoll.services.hosts.places import StoredFullZones, StoredPlaces
from plimsoll.services.retries import Outage, report_waiting
from plimsoll.services.store import layout
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

if TYPE_CHECKING:
    from plimsoll.adapters.artefacts import Artefacts
    from plimsoll.adapters.external.database import Databases
    from plimsoll.adapters.external.endpoint import Endpoints
    from plimsoll.adapters.providers.command import CommandProvider
    from plimsoll.adapters.providers.ec2 import Ec2Tariffs
    from plimsoll.adapters.providers.ssh import Connections, Depot

_log = logging.getLogger("plimsoll")


def build_toolkit(settings: Settings) -> Toolkit:
    toolkit: Toolkit = _made(settings.toolkit, settings)
    return replace(toolkit, owners=LocalProcesses())


def build_secrets(settings: Settings) -> Secrets:
    secrets: Secrets = _made(settings.secrets, settings)
    return secrets


def environment_secrets(settings: Settings) -> Secrets:
    """Return the source of keys for running without Airflow."""
    from plimsoll.adapters.secrets import DatabaseVariables, EnvironmentSecrets

    database = DatabaseVariables(
        settings.database_user,
        settings.database_password.get_secret_value(),
        settings.database_authority,
        settings.database_certificate,
        settings.database_key,
    )
    return EnvironmentSecrets(settings.ssh_key, settings.ssh_user, database)


def full_toolkit(settings: Settings) -> Toolkit:
    from plimsoll.adapters.code_version import code_version
    from plimsoll.adapters.generators.cassandra_stress import CassandraStress
    from plimsoll.adapters.generators.command import CommandGenerator
    from plimsoll.adapters.generators.latte import Latte
    from plimsoll.adapters.generators.plimsoll_stress import PlimsollStress
    from plimsoll.adapters.hosts.canary import ScriptCanary
    from plimsoll.adapters.hosts.sampler import ProcSampler
    from plimsoll.adapters.products.external import ExternalProduct

    clock, store, artefacts = SystemClock(), build_store(settings), artefacts_in(settings)
    providers = _Providers(settings, store, clock, build_secrets(settings), Outage(clock))
    deployed = products_with(artefacts, clock)
    external = ExternalProduct(*providers.theirs, {name: product.evidence for name, product in deployed.items()})
    products = {**deployed, external.name: external}
    generators = [PlimsollStress(artefacts), CassandraStress(artefacts), Latte(), CommandGenerator(artefacts)]
    return Toolkit(
        store=store,
        clock=clock,
        providers=OnDemand({"local": providers.local, **providers.of_hosts(), "external": providers.external}),
        tariffs=OnDemand({**providers.tariffs(), "external": providers.external_tariffs}),
        products=products,
        load_generators={generator.name: generator for generator in generators},
        sampler=ProcSampler(),
        canary=ScriptCanary(),
        places=StoredPlaces(store, providers.outage, lambda: sound_definitions(settings)),
        write_kept_records=providers.launches.write_kept,
        local_notes=_local_notes,
        code_version=code_version(),
    )


def provider_to_check(settings: Settings, choice: ProviderChoice) -> Provider:
    """Return a definition's provider `command`, whose launches are not recorded in the store.

    Raises Refused for another provider.
    """
    from plimsoll.adapters.providers.command import PROVIDER, UnkeptLaunches

    if choice.name != PROVIDER:
        what = f"is {choice.name!r}: only the programs of `{PROVIDER}` are checked so"
        raise Refused([Problem("provider.name", what, "`plimsoll plan` checks it")], where="provider check")
    clock = SystemClock()
    providers = _Providers(settings, build_store(settings), clock, build_secrets(settings), Outage(clock))
    return replace(providers.command(), launches=UnkeptLaunches()).at(Places((choice.options,)))


def artefacts_in(settings: Settings) -> Artefacts:
    from plimsoll.adapters.artefacts import Archives, Artefacts

    return Artefacts(settings.cache, _log.info, archives=Archives(lambda: _s3(settings)))


def products_with(artefacts: ArtefactSource, clock: Clock) -> dict[str, Product]:
    """Return every product that Plimsoll deploys, by the name that definitions use."""
    from plimsoll.adapters.products.cassandra import Cassandra
    from plimsoll.adapters.products.command import CommandDatabase
    from plimsoll.adapters.products.hbase import HBase
    from plimsoll.adapters.products.scylladb import ScyllaDb

    deployed = {adapter.name: adapter(artefacts, clock) for adapter in (Cassandra, HBase, ScyllaDb)}
    return {**deployed, CommandDatabase.name: CommandDatabase(clock)}


def _local_notes(spec: HostsSpec, disturbance: Disturbance) -> Iterable[str]:
    from plimsoll.adapters.providers.local.checks import notes

    return notes(spec, disturbance)


@dataclass(frozen=True)
class _Providers:
    """The makers of the providers of one toolkit, which have connections and prices in common."""

    settings: Settings
    store: ResultStore
    clock: Clock
    secrets: Secrets
    outage: Outage

    def local(self) -> Provider:
        from plimsoll.adapters.providers.local import LocalProvider

        return LocalProvider(self.settings.work, self.clock)

    def of_hosts(self) -> dict[str, Callable[[], Provider]]:
        """Return, by name, what makes the providers whose hosts are other machines."""
        return {"ssh": self.ssh, "ec2": self.ec2, "command": self.command}

    def ssh(self) -> Provider:
        from plimsoll.adapters.providers.ssh import SshProvider

        return SshProvider(self.connections, self.clock, self.depot)

    def external(self) -> Provider:
        from plimsoll.adapters.providers.external import ExternalProvider, Observers, Reach
        from plimsoll.adapters.providers.local import LocalProvider

        # A folder of its own: what lies in that of local clusters belongs to these alone.
        beside = self.settings.work.with_name(f"{self.settings.work.name}-external")
        hosts_from = OnDemand[Provider]({"local": lambda: LocalProvider(beside, self.clock), **self.of_hosts()})
        reach = Reach(*self.theirs, StoredSetUps(self.store), self.clock, store_name(self.settings))
        return ExternalProvider(reach, hosts_from, Observers(lambda: self.connections))

    def ec2(self) -> Provider:
        from plimsoll.adapters.providers.ec2 import Ec2Provider, over_ssh

        return Ec2Provider(
            secrets=self.secrets,
            clock=self.clock,
            connect=over_ssh(self.connections, self.depot),
            store=store_name(self.settings),
            log=report_waiting,
            launches=self.launches,
            full_zones=StoredFullZones(self.store, self.clock),
            further_regions=self.settings.further_regions,
            tariffs=self.ec2_tariffs,
        )

    def command(self) -> CommandProvider:
        from plimsoll.adapters.providers.command import CommandProvider, FolderPrograms, Reach

        return CommandProvider(
            programs=FolderPrograms(self.settings.provider_programs),
            ssh=self.ssh(),
            reach=Reach(self.connections, self.clock),
            secrets=self.secrets,
            clock=self.clock,
            store=store_name(self.settings),
            log=report_waiting,
            launches=self.launches,
        )

    def tariffs(self) -> dict[str, Callable[[], Tariffs]]:
        return {"ec2": lambda: self.ec2_tariffs, "command": self.command_tariffs}

    @staticmethod
    def command_tariffs() -> Tariffs:
        from plimsoll.adapters.providers.command import CommandTariffs

        return CommandTariffs()

    @cached_property
    def launches(self) -> StoredLaunches:
        return StoredLaunches(self.store, self.outage)

    def external_tariffs(self) -> Tariffs:
        from plimsoll.adapters.providers.external import LoadHostTariffs

        return LoadHostTariffs(OnDemand(self.tariffs()))

    @cached_property
    def theirs(self) -> tuple[Databases, Endpoints]:
        from plimsoll.adapters.external.database import Databases
        from plimsoll.adapters.external.endpoint import Endpoints

        secrets: DatabaseSecrets = _made(self.settings.secrets, self.settings)
        return Databases(secrets), Endpoints(secrets, self.clock)

    @cached_property
    def ec2_tariffs(self) -> Ec2Tariffs:
        from plimsoll.adapters.providers.ec2 import Ec2Tariffs

        return Ec2Tariffs(self.secrets)

    @cached_property
    def connections(self) -> Connections:
        from plimsoll.adapters.providers.ssh import Connections

        return Connections(self.secrets)

    @cached_property
    def depot(self) -> Depot | None:
        from plimsoll.adapters.providers.ssh import Depot

        if not isinstance(self.store, DirectStore):
            return None
        return Depot(self.store, layout.BUNDLES.folder, self.settings.cache / "locks")


def build_store(settings: Settings) -> ResultStore:
    """Return the result store alone, for callers that only read."""
    if not settings.has_store_in_s3:
        if "store" not in settings.model_fields_set:
            with suppress(OSError):  # whoever writes there says so
                # The store makes no folder above its own, and that of the default store may be missing
                Path(settings.store).parent.mkdir(exist_ok=True)
        return ObjectStore(settings.store)
    from plimsoll.adapters.stores.s3_store import S3Store

    return S3Store(settings.store, lambda: _s3(settings))


def existing_store(settings: Settings) -> ResultStore:
    """Return the result store for commands that read existing data. Raises StoreError where there is no store."""
    if "://" not in settings.store and "store" in settings.model_fields_set:
        store = Path(settings.store)
        mend = "correct PLIMSOLL_STORE, or unset it"
        if not store.exists():
            mend = f"{mend}; the first campaign that runs there makes a store"
            raise StoreError("there is no result store", where=str(store.absolute()), mend=mend)
        if not store.is_dir():
            raise StoreError("is a file, not a result store", where=str(store.absolute()), mend=mend)
    return build_store(settings)


def _s3(settings: Settings) -> Any:
    return build_secrets(settings).aws(settings.store_connection).client("s3", None)


def store_name(settings: Settings) -> str:
    """Return the name that distinguishes this installation's clusters from others' in the same account: its result
    store.

    A store in a folder is unique to this machine.
    """
    return settings.store if "://" in settings.store else f"{platform.node()}:{settings.store}"


def definition_folder(settings: Settings) -> DefinitionFolder:
    return DefinitionFolder(settings.campaigns)


def load_definition(settings: Settings, name_or_path: str) -> Definition:
    """Return a definition by name or path. Raises NotFound, or DefinitionError with every fault."""
    where, text = definition_folder(settings).read(name_or_path)
    return parse_definition(text, where)


def load_document(settings: Settings, name_or_path: str) -> Document:
    """Return the document of a definition, by name or path. It knows the line of each key.

    Raises NotFound, or DefinitionError where the file is not readable YAML.
    """
    where, text = definition_folder(settings).read(name_or_path)
    return parse_yaml(text, where)


def sound_definitions(settings: Settings) -> Iterator[Definition]:
    """Yield the valid definitions of the folder; others are skipped."""
    folder = definition_folder(settings)
    for name in folder.names():
        with suppress(PlimsollError):
            yield load_definition(settings, name)


def _made(factory: str, settings: Settings) -> Any:
    """Return the result of the factory `module:function` for settings. Raises Refused where there is none."""
    module, _, function = factory.partition(":")
    try:
        make = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        what, mend = f"{factory!r} is no factory: {error}", "write `module:function`, or unset it"
        raise Refused([Problem("PLIMSOLL_TOOLKIT or PLIMSOLL_SECRETS", what, mend)], where="settings") from error
    return make(settings)
