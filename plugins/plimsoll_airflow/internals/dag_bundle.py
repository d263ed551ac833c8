"""The folder of DAG files, parsed again when a campaign definition has changed.

Airflow parses a DAG file again when that file has changed. Plimsoll's DAG files make their DAGs from the folder of
definitions, which Airflow does not watch. Airflow's DAG processor refreshes the bundle, which is the folder of DAG
files, at an interval (`[dag_processor] refresh_interval`). This bundle then compares names, sizes and times of the
definitions' files, which takes a fraction of a millisecond, and requests parsing only when they differ.

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

    def refresh(self) -> None:
        """Request parsing of all DAG files if a definition was added, changed or removed since the last call."""
        found = definition_folder(Settings()).fingerprint()
        if found != self._seen:
            # As `PUT /api/v2/parseDagFile` does, by its table: the DAG processor has no token for the API.
            from airflow.models.dagbag import DagPriorityParsingRequest
            from airflow.utils.session import create_session

            with create_session() as session:
                for path in sorted(self.path.glob("*.py")):
                    file = str(path.relative_to(self.path))
                    # Its key follows from both names.
                    session.merge(DagPriorityParsingRequest(bundle_name=self.name, relative_fileloc=file))
            self._seen = found


class PlimsollBundle(CampaignsBundle):
    """Plimsoll's own DAG files, wherever the package is installed: for an Airflow with other bundles of DAGs."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"path": str(DAG_FILES), **options})
