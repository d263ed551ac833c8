"""Readers of other tools' output: one module per format. The content of a file decides its format."""

from plimsoll.analysis.logs.formats.detection import FORMATS, read_run
from plimsoll.analysis.logs.formats.reading import Format, Reading, ReadOptions, RunFile, Sample, WholeRun

__all__ = ["FORMATS", "Format", "ReadOptions", "Reading", "RunFile", "Sample", "WholeRun", "read_run"]
