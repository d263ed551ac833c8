"""The Java program of the load generator."""

from dataclasses import dataclass

from plimsoll.adapters.artefacts.own_programs import OwnProgram
from plimsoll.ports.artefacts import ProgramSource
from plimsoll.ports.host import Host


@dataclass(frozen=True)
class StressProgram:
    """Command lines of the program."""

    artefacts: ProgramSource

    def argv(self, host: Host, *arguments: str, jvm: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The command that runs it on that host, after installing it there. Raises ArtefactError."""
        program = OwnProgram("plimsoll.stress.Main", self.artefacts.load_generator())
        return program.argv(self.artefacts, host, *arguments, jvm=jvm)
