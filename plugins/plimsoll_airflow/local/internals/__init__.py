"""Everything that the local stack uses of Airflow beyond its public interface: private methods of an executor, tables.

Airflow may change any of this between versions. To support another version, check this package first, and add the
version to `TRIED_ON` when the tests below `tests/integration/local` pass on it.
"""

TRIED_ON = ("3.3.2",)
"""Versions of Airflow that the modules of this package were tried on."""
