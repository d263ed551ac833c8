"""Common code of the adapters for other load generators: their commands as one detached job, and its result."""

from plimsoll.adapters.generators.foreign_load.generator import ForeignGenerator, Load
from plimsoll.adapters.generators.foreign_load.script import Command, Ending

__all__ = ["Command", "Ending", "ForeignGenerator", "Load"]
