"""The page and the JSON API that Plimsoll adds to Airflow's api-server."""

from plimsoll import prefix

NAME = prefix.PREFIX.strip("_") or "plimsoll"
"""The name of the pages in addresses of Airflow's frame."""
PREFIX = f"/{NAME}"
"""The path below which pages and API are mounted."""
