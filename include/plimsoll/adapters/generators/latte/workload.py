"""cassandra-stress' standard row as a workload for latte: a script in Rune. Pure."""

from plimsoll.adapters.generators.cassandra_stress.workloads import StandardRow, standard_row
from plimsoll.domain.campaign.specs import LoadSpec

FILE = "standard-row.rn"
WORKLOADS = ("StandardRow", "mixed", "write", "read")
_TABLE = "CREATE TABLE IF NOT EXISTS keyspace1.standard1"
_COLUMNS = tuple(f'\\"C{number}\\"' for number in range(5))
"""Quoted names, as they stand in a string of Rune's."""

_SCRIPT = """//! Plimsoll's StandardRow: one row of five blobs by a blob.
const ROWS = {rows};
const SIZE = {size};

pub async fn schema(ctx) {{
    ctx.execute("{keyspace}").await?;
    ctx.execute("{table}").await?;
    Ok(())
}}

pub async fn erase(ctx) {{
    ctx.execute("TRUNCATE keyspace1.standard1").await
}}

pub async fn prepare(ctx) {{
    ctx.load_cycle_count = ROWS;
    ctx.prepare("write", "INSERT INTO keyspace1.standard1 (key, {names}) VALUES (:key, {markers})").await?;
    ctx.prepare("read", "SELECT * FROM keyspace1.standard1 WHERE key = :key").await?;
    Ok(())
}}

fn key_of(number) {{
    latte::blob(number, 10)
}}

fn drawn(i) {{
    {draw}
}}

async fn insert(ctx, number, i) {{
    ctx.execute_prepared("write", [key_of(number), {values}]).await
}}

pub async fn load(ctx, i) {{
    insert(ctx, i, i).await
}}

pub async fn write(ctx, i) {{
    insert(ctx, drawn(i), i).await
}}

pub async fn read(ctx, i) {{
    ctx.execute_prepared("read", [key_of(drawn(i))]).await
}}
"""


def script(spec: LoadSpec) -> str:
    """Return the text of the workload's file. It contains only numbers of the definition."""
    row = standard_row(spec.workload)
    replication = f"{{'class': 'SimpleStrategy', 'replication_factor': {spec.workload.replication_factor}}}"
    columns = ", ".join(f"{name} blob" for name in _COLUMNS)
    return _SCRIPT.format(
        rows=row.rows,
        size=row.column_size,
        keyspace=f"CREATE KEYSPACE IF NOT EXISTS keyspace1 WITH replication = {replication}",
        # Without compression, as cassandra-stress makes this table
        table=f"{_TABLE} (key blob PRIMARY KEY, {columns}) WITH compression = {{'enabled': 'false'}}",
        names=", ".join(_COLUMNS),
        markers=", ".join(f":c{number}" for number in range(5)),
        values=", ".join(f"latte::blob(latte::hash2(i, {number}), SIZE)" for number in range(5)),
        draw=_draw(row),
    )


def functions(spec: LoadSpec) -> str:
    """Return the values of `-f`: the operations with their weights."""
    row = standard_row(spec.workload)
    weights = {"write": row.write, "read": row.read}
    return ",".join(f"{name}:{weight:g}" for name, weight in weights.items() if weight)


def _draw(row: StandardRow) -> str:
    if row.keys == "sequence":
        return "i % ROWS"
    if row.keys == "uniform":
        return "latte::hash_range(i, ROWS)"
    # Definitions count keys from 1, as cassandra-stress does, and this script from 0
    mean = (row.rows - 1) / 2 if row.mean is None else row.mean - 1
    deviation = (row.rows - 1) / 2 / 3 if row.deviation is None else row.deviation
    # Keys that lie outside are clamped, as by cassandra-stress
    drawn = f"latte::normal(i, {float(mean)!r}, {float(deviation)!r})"
    return f"{drawn}.clamp(0.0, {float(row.rows - 1)!r}) as i64"
