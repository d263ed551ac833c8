"""Keys and credentials for campaigns that run without Airflow."""

from plimsoll.adapters.secrets.environment_variables import EnvironmentSecrets

__all__ = ["EnvironmentSecrets"]
