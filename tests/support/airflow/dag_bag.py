"""The DAG bag and the way of a DAG through the database, which Airflow 3.1 has at other places."""

from typing import Any

try:
    from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db
    from airflow.serialization.serialized_objects import DagSerialization
except ImportError:
    from airflow.models import dagbag
    from airflow.models.dagbag import sync_bag_to_db  # type: ignore[no-redef]
    from airflow.serialization import serialized_objects

    DagSerialization = serialized_objects.SerializedDAG  # type: ignore[assignment,attr-defined,misc]

    class DagBag(dagbag.DagBag):  # type: ignore[no-redef,misc]
        """One that takes, and does not need, the name of a bundle."""

        def __init__(self, *, bundle_name: str = "", **options: Any) -> None:
            super().__init__(**options)


__all__ = ["DagBag", "DagSerialization", "sync_bag_to_db"]
