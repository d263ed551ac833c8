"""The page and the JSON API that Plimsoll adds to Airflow's api-server."""

PREFIX = "/plimsoll"
"""The path below which pages and API are mounted."""
