"""JDKs, databases and the load generator: downloaded, verified by checksum, built, and kept for later use."""

from plimsoll.adapters.artefacts.archives import Archives
from plimsoll.adapters.artefacts.source import Artefacts

__all__ = ["Archives", "Artefacts"]
