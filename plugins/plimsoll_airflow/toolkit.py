"""The wired core, once a process and settings."""

from functools import lru_cache

from plimsoll.bootstrap import build_toolkit
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings


def toolkit() -> Toolkit:
    """The toolkit that this process' environment asks for."""
    return _built(Settings())


@lru_cache(maxsize=4)
def _built(settings: Settings) -> Toolkit:
    return build_toolkit(settings)
