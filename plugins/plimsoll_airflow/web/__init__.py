"""The page and the JSON API that Plimsoll adds to Airflow's api-server."""

PREFIX = "/plimsoll"
"""Where both are mounted."""
