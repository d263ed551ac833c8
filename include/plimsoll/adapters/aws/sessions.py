"""Sessions of AWS's API, all of which use the descriptions of AWS's services that a process has read once.

botocore keeps what it has read in each session. To find and parse the description of EC2 takes a third of a second of
processor time, which a client in a new session would take again.
"""

from functools import cache
from typing import Any

from boto3.session import Session
from botocore.config import Config
from botocore.loaders import create_loader
from botocore.session import get_session

_CONNECT_S, _READ_S, _TRIES = 10, 60, 8


def client_config(**more: Any) -> Config:
    """Return the time limits and retries of every client, with further settings of botocore's."""
    retries: Any = {"mode": "standard", "total_max_attempts": _TRIES}
    return Config(connect_timeout=_CONNECT_S, read_timeout=_READ_S, retries=retries, **more)


def new_session(**arguments: Any) -> Session:
    """Return a session with the arguments of `boto3.session.Session`. It shares neither credentials nor clients."""
    inner = get_session()
    if profile := arguments.pop("profile_name", None):  # boto3 would set it later, and the folder may be the profile's
        inner.set_config_variable("profile", profile)
    data_path = inner.get_config_variable("data_path")
    # A loader for each session, for boto3 adds to its folders; what it has read is everyone's.
    loader: Any = create_loader(data_path)
    loader._cache = _read(data_path)
    inner.register_component("data_loader", loader)
    return Session(botocore_session=inner, **arguments)


@cache
def _read(_data_path: str | None) -> dict[Any, Any]:
    """Return the cache of botocore's loaders for these folders. The loaders fill it with what they have read."""
    return {}
