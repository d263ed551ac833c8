"""Everything that Plimsoll uses of Airflow beyond its public interface.

Airflow may change any of this between versions. What is public, its page "Public Interface for Airflow 3.0+" says; all
else is imported, named, overridden or asked of the database in this package alone, and a unit test sees to that. Each
module says in which version of Airflow its internals were read, and each function which it uses and why. To support
another version, read them there again, write that version into the modules, and run all tests.

Modules import Airflow inside functions where processes import the module and do not need all of it.
"""
