"""cassandra-stress and its libraries as parts of a release of Cassandra: they are not published separately."""

from plimsoll.ports.artefacts import ReleaseProgram

PROGRAM = ReleaseProgram(
    name="cassandra-stress",
    product="Cassandra",
    lock="stress-of-cassandra",
    folders=("lib", "tools/lib"),
    # The release's own HdrHistogram needs a class that JDKs have no more since 11.
    replaced="HdrHistogram-",
)
