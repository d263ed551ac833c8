"""Settings → wired ports. The only place that knows which adapters there are."""

import importlib
import logging
from typing import Any

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.definition_folder import DefinitionFolder
from plimsoll.adapters.object_store import ObjectStore
from plimsoll.domain.definition import Definition
from plimsoll.ports.secrets import Secrets
from plimsoll.ports.store import ResultStore
from plimsoll.services.definitions import parse_definition
from plimsoll.services.provider_options import StoredOptions
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

_log = logging.getLogger("plimsoll")


def build_toolkit(settings: Settings) -> Toolkit:
    """The toolkit that the settings ask for."""
    toolkit: Toolkit = _made(settings.toolkit, settings)
    return toolkit


def build_secrets(settings: Settings) -> Secrets:
    """The source of keys that the settings ask for."""
    secrets: Secrets = _made(settings.secrets, settings)
    return secrets


def environment_secrets(settings: Settings) -> Secrets:
    """Keys for those who run without Airflow."""
    from plimsoll.adapters.secrets import EnvironmentSecrets

    return EnvironmentSecrets(settings.ssh_key, settings.ssh_user)


def local_toolkit(settings: Settings) -> Toolkit:
    """Every adapter that this installation has."""
    from plimsoll.adapters.artefacts import Artefacts
    from plimsoll.adapters.cassandra import Cassandra
    from plimsoll.adapters.local import LocalProvider
    from plimsoll.adapters.plimsoll_stress import PlimsollStress
    from plimsoll.adapters.sampler import ProcSampler
    from plimsoll.adapters.ssh import Connections, SshProvider

    clock, store = SystemClock(), build_store(settings)
    connections = Connections(build_secrets(settings))
    artefacts = Artefacts(settings.cache, _log.info)
    return Toolkit(
        store=store,
        clock=clock,
        providers={
            "local": LocalProvider(settings.work, clock),
            "ssh": SshProvider(connections, StoredOptions(store), clock),
        },
        databases={"cassandra": Cassandra(artefacts, clock)},
        load_generators={"plimsoll-stress": PlimsollStress(artefacts)},
        sampler=ProcSampler(),
    )


def build_store(settings: Settings) -> ResultStore:
    """The result store alone, for those who only read."""
    return ObjectStore(settings.store)


def definition_folder(settings: Settings) -> DefinitionFolder:
    """The folder of definitions."""
    return DefinitionFolder(settings.campaigns)


def load_definition(settings: Settings, name_or_path: str) -> Definition:
    """A definition by name or path. NotFound, or DefinitionError with every fault."""
    where, text = definition_folder(settings).read(name_or_path)
    return parse_definition(text, where)


def _made(factory: str, settings: Settings) -> Any:
    """What the factory `module:function` makes of the settings."""
    module, _, function = factory.partition(":")
    return getattr(importlib.import_module(module), function)(settings)
