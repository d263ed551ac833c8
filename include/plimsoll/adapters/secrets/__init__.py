"""Keys and credentials for campaigns that run without Airflow."""

from plimsoll.adapters.secrets.environment_variables import DatabaseVariables, EnvironmentSecrets

__all__ = ["DatabaseVariables", "EnvironmentSecrets"]
