"""What the local stack uses of Airflow beyond its public interface: an executor's private methods, and tables.

Airflow may change any of it between two versions. Whoever installs another version looks here first, and adds the
version to `TRIED_ON` when the tests below `tests/integration/local` pass on it.
"""

TRIED_ON = ("3.3.2",)
"""Versions of Airflow that the modules of this package were tried on."""
