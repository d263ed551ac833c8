"""The earlier name of SlotTrigger, which Airflow's database has for tasks that wait through an upgrade."""

from plimsoll_airflow.triggers.slot import SlotTrigger as TurnTrigger

__all__ = ["TurnTrigger"]
