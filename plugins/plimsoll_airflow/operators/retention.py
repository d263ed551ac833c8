"""The task of the DAG `retention`, which removes raw files by the settings."""

from airflow.sdk import BaseOperator, Context

from plimsoll.services.housekeeping.retention import Rule, prune
from plimsoll.settings import Settings
from plimsoll_airflow.operators.failing import final
from plimsoll_airflow.runs.ownership import RETENTION_DAG
from plimsoll_airflow.wiring.core import toolkit


def rule_of_settings() -> Rule:
    """Return the rule that the settings `PLIMSOLL_RAW_DAYS` and `PLIMSOLL_RAW_GB` give."""
    settings = Settings()
    return Rule.of_settings(settings.raw_days, settings.raw_gb)


class RemoveRawFiles(BaseOperator):
    """Remove raw files of campaigns that have ended and are published, by age or to make room."""

    def execute(self, context: Context) -> list[str]:  # noqa: ARG002
        """Return the campaigns whose raw files were removed. A campaign whose raw files stay is no failure."""
        gone: list[str] = []
        with final():
            for raw in prune(toolkit(), rule_of_settings(), f"Airflow's DAG {RETENTION_DAG}"):
                if raw.why_not:
                    self.log.warning("%s: raw files, %s, stay: %s", raw.campaign_id, raw.rule, raw.why_not)
                else:
                    self.log.info("%s: removed %d bytes of raw files, %s", raw.campaign_id, raw.bytes, raw.rule)
                    gone.append(raw.campaign_id)
        return gone
