"""What other people's tools write: one module a format, told apart by content."""

from plimsoll.analysis.formats.detection import FORMATS, read_run
from plimsoll.analysis.formats.reading import Asked, Format, Reading, RunFile, Sample, WholeRun

__all__ = ["FORMATS", "Asked", "Format", "Reading", "RunFile", "Sample", "WholeRun", "read_run"]
