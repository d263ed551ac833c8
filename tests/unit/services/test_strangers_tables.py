"""Tables of attempts in a stranger's bundle: cut short, no table at all, or made to fill the memory."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet
from tests.support.stores.stored_campaign import CAMPAIGN, STORED

from plimsoll.adapters.artefacts.archives import unpack_tar
from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.text.errors import DamagedRecord
from plimsoll.services.publish.results import attempt_data
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.tables import table_file


def bomb() -> bytes:
    """Return sixty million equal figures in some hundred kilobytes."""
    block = pyarrow.table({"ms": pyarrow.repeat(1.0, 1_000_000)})
    stream = BytesIO()
    with parquet.ParquetWriter(stream, block.schema, compression="zstd") as writer:
        for _ in range(60):
            writer.write_table(block)
    assert len(stream.getvalue()) < 1_000_000
    return stream.getvalue()


def texts_bomb() -> bytes:
    """Return ten gigabytes of text, which lies in the file once, in some hundred bytes."""
    texts = pyarrow.DictionaryArray.from_arrays(pyarrow.repeat(0, 20_000), ["x" * 500_000])
    stream = BytesIO()
    parquet.write_table(pyarrow.table({"host": texts}), stream, compression="zstd", store_schema=False)
    assert len(stream.getvalue()) < 1_000
    return stream.getvalue()


def nested() -> bytes:
    """Return rows that hold lists, whose lengths no number of rows or columns tells."""
    stream = BytesIO()
    parquet.write_table(pyarrow.table({"ms": [[1.0] * 3]}), stream)
    return stream.getvalue()


def odd_notes() -> bytes:
    """Return a table of which one letter of what pandas noted of its columns is another one."""
    stream = BytesIO()
    notes = b'{"columns": [{"name": "ms", "field_name": "ms", "pandaz_type": "float64"}], "index_columns": []}'
    parquet.write_table(pyarrow.table({"ms": [1.0]}).replace_schema_metadata({"pandas": notes}), stream)
    return stream.getvalue()


@pytest.fixture
def campaign(tmp_path: Path) -> CampaignStore:
    unpack_tar(STORED, tmp_path)
    return CampaignStore(ObjectStore(str(tmp_path)), CAMPAIGN)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: b"", "can't be read as a table"),
        (lambda: b"PAR1 no table PAR1", "can't be read as a table"),
        (bomb, "60,000,000 rows of 1 columns are more than any attempt has"),
        (texts_bomb, "20,000 texts of up to 500,000 bytes are more than any attempt has"),
        (odd_notes, "can't be read as a table"),
        (nested, "no attempt has a column of list"),
    ],
    ids=["empty", "none", "bomb", "bomb of texts", "odd notes", "nested"],
)
def test_a_hostile_table_is_named_and_not_read(
    campaign: CampaignStore, made: Callable[[], bytes], message: str
) -> None:
    verdict = next(campaign.verdicts())
    campaign.store.write(layout.attempt_file(verdict.key, table_file("pauses")), made())
    with pytest.raises(DamagedRecord, match=message) as caught:
        attempt_data(campaign.store, verdict)
    assert "pauses.parquet" in caught.value.where
    assert f"plimsoll rejudge {CAMPAIGN}" in caught.value.mend


def test_a_table_cut_short_is_named(campaign: CampaignStore) -> None:
    verdict = next(campaign.verdicts())
    name = layout.attempt_file(verdict.key, table_file("intervals"))
    campaign.store.write(name, campaign.store.read(name)[:-20])
    with pytest.raises(DamagedRecord, match="can't be read as a table"):
        attempt_data(campaign.store, verdict)
