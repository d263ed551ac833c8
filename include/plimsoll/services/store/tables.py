"""The tables of an attempt: what judging stores, and reports and pages read."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from plimsoll.domain.keys.host_bounds import MOST_CELLS_OF_A_TABLE, MOST_TEXT_OF_A_TABLE
from plimsoll.domain.text.errors import DamagedRecord, NotFound
from plimsoll.services.store.layout import attempt_file

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow

    from plimsoll.domain.campaign.cell import AttemptKey
    from plimsoll.ports.store import ReadableStore, ResultStore

TABLES: dict[str, tuple[str, ...]] = {
    "intervals": (
        "start_s", "duration_s", "phase", "operation", "count", "rate_ops_s",
        "p50_ms", "p90_ms", "p99_ms", "p99_9_ms", "max_ms", "judged_ms", "met",
    ),
    "pauses": (
        "host", "process", "start_s", "duration_ms", "kind", "stop_the_world", "stopped_ms", "to_safepoint_ms",
    ),
    "coincidences": (),
    "jvms": (),
    "hosts": (),
    "backlog": (),
    "latencies": (),
    "activity": (),
    "log_lines": (),
}  # fmt: skip
"""Each table's name, which is that of its field of `AttemptData`, and the columns of one that an attempt lacks.

An attempt that failed before its load has no tables.
"""

_OF_DAMAGE = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)
"""Raised by pandas and pyarrow, beside their own errors, over damage in what pandas notes of a table's columns."""


def table_file(name: str) -> str:
    return f"{name.replace('_', '-')}.parquet"


def write_table(store: ResultStore, key: AttemptKey, name: str, table: pd.DataFrame) -> None:
    assert name in TABLES
    stream = BytesIO()
    table.to_parquet(stream, index=False)
    store.write(attempt_file(key, table_file(name)), stream.getvalue())


def read_table(store: ReadableStore, key: AttemptKey, name: str) -> pd.DataFrame:
    """Read a table of an attempt; without rows where the attempt has none. Raises DamagedRecord."""
    import pandas as pd
    from pyarrow import ArrowException

    file = attempt_file(key, table_file(name))
    try:
        return _parsed(store.read(file))
    except NotFound:
        return pd.DataFrame(columns=list(TABLES[name]))
    except (ArrowException, OSError, *_OF_DAMAGE) as error:
        mend = f"judge the attempt again: `plimsoll rejudge {key.campaign_id}`; of a bundle, get it again"
        raise DamagedRecord(f"can't be read as a table ({error})", where=store.url(file), mend=mend) from error


def _parsed(content: bytes) -> pd.DataFrame:
    """Read a table. Raises ArrowException where it is damaged, or so large that it was made to fill the memory.

    A column of equal values takes almost no space in a file, whatever its length, and so does a long text that stands
    in every row. So texts are read as they lie in the file, each once, and measured before every row gets its own.
    """
    from pyarrow import ArrowInvalid, BufferReader, types
    from pyarrow.parquet import ParquetFile

    # What pd.read_parquet returns, for half its time: that looks for partitions and starts threads for each small file.
    file = ParquetFile(BufferReader(content))
    rows, columns = file.metadata.num_rows, file.metadata.num_columns
    if rows * columns > MOST_CELLS_OF_A_TABLE:
        raise ArrowInvalid(f"{rows:,} rows of {columns} columns are more than any attempt has")
    schema = file.schema_arrow
    texts = {
        n: field.name
        for n, field in enumerate(schema)
        if types.is_string(field.type) or types.is_large_string(field.type)
    }
    for number, field in enumerate(schema):
        if number not in texts and not types.is_primitive(field.type) and not types.is_null(field.type):
            raise ArrowInvalid(f"no attempt has a column of {field.type}, such as {field.name!r}")
    packed = ParquetFile(BufferReader(content), metadata=file.metadata, read_dictionary=[*texts.values()])
    table = packed.read(use_threads=False)
    for number in texts:
        table = table.set_column(number, schema.field(number), _written_out(table.column(number), schema.field(number)))
    frame: pd.DataFrame = table.to_pandas(use_threads=False)
    return frame


def _written_out(column: pyarrow.ChunkedArray, field: pyarrow.Field) -> pyarrow.ChunkedArray:
    """Return a column of texts with a text for each row. Raises ArrowInvalid where these would be too many bytes."""
    from pyarrow import ArrowInvalid, compute

    longest = max(
        (compute.max(compute.binary_length(chunk.dictionary)).as_py() or 0 for chunk in column.chunks), default=0
    )
    if longest * len(column) > MOST_TEXT_OF_A_TABLE:
        raise ArrowInvalid(f"{len(column):,} texts of up to {longest:,} bytes are more than any attempt has")
    return column.cast(field.type)
