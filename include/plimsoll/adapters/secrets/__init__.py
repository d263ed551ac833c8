"""Keys and credentials for those who run campaigns without Airflow."""

from plimsoll.adapters.secrets.environment import EnvironmentSecrets

__all__ = ["EnvironmentSecrets"]
