"""What adapters of other people's load generators share: their commands as one detached job, and how it ended."""

from plimsoll.adapters.foreign_load.generator import ForeignGenerator, Load
from plimsoll.adapters.foreign_load.script import Command, Ending

__all__ = ["Command", "Ending", "ForeignGenerator", "Load"]
