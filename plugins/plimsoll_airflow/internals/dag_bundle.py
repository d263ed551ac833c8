"""The folder of DAG files, parsed again when a definition has changed, or a DAG that events begin was unpaused.

Airflow parses a DAG file again when that file has changed. Plimsoll's DAG files make their DAGs from the folder of
definitions, which Airflow does not watch. Airflow's DAG processor refreshes the bundle, which is the folder of DAG
files, at an interval (`[dag_processor] refresh_interval`). This bundle then compares names, sizes and times of the
definitions' files, which takes a fraction of a millisecond, and requests parsing only when they differ.

Only while it parses a DAG does Airflow begin to watch the queues of an unpaused one, and leave those of a paused one
alone.

Read in Airflow 3.3.2.
"""

from typing import Any

from airflow.dag_processing.bundles.local import LocalDagBundle

from plimsoll.bootstrap import definition_folder
from plimsoll.settings import Settings
from plimsoll_airflow.dags import DAG_FILES


class CampaignsBundle(LocalDagBundle):
    """A local folder of DAG files that depend on the folder of definitions.

    Uses `LocalDagBundle`, because the DAG processor calls `refresh` of nothing but bundles.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # The DAG processor makes its bundles before it reads the first file: what changes from now on is seen.
        self._seen = definition_folder(Settings()).fingerprint()
        self._unpaused: frozenset[str] | None = None

    def refresh(self) -> None:
        """Request parsing of all DAG files if since the last call a definition was added, changed or removed, or a DAG
        that events of assets begin was paused or unpaused.
        """
        fingerprint, unpaused = definition_folder(Settings()).fingerprint(), self._begun_by_events()
        # The first call comes before the first parse.
        if fingerprint != self._seen or self._unpaused not in (None, unpaused):
            # As `PUT /api/v2/parseDagFile` does, by its table: the DAG processor has no token for the API.
            from airflow.models.dagbag import DagPriorityParsingRequest
            from airflow.utils.session import create_session

            with create_session() as session:
                for path in sorted(self.path.glob("*.py")):
                    file = str(path.relative_to(self.path))
                    # Its key follows from both names.
                    session.merge(DagPriorityParsingRequest(bundle_name=self.name, relative_fileloc=file))
        self._seen, self._unpaused = fingerprint, unpaused

    def _begun_by_events(self) -> frozenset[str]:
        """Return the unpaused DAGs of the bundle that events of assets begin, by Airflow's table of DAGs."""
        from airflow.models.dag import DagModel
        from airflow.utils.session import create_session
        from sqlalchemy import select

        of_bundle = (DagModel.bundle_name == self.name, ~DagModel.is_paused, ~DagModel.is_stale)
        query = select(DagModel.dag_id).where(*of_bundle, DagModel.schedule_asset_references.any())
        with create_session() as session:
            return frozenset(session.scalars(query))


class PlimsollBundle(CampaignsBundle):
    """Plimsoll's own DAG files, wherever the package is installed: for an Airflow with other bundles of DAGs."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"path": str(DAG_FILES), **options})
