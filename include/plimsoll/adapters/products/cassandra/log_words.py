"""What Cassandra says in its logs: lines that explain nothing, and errors with advice. Pure."""

from plimsoll.adapters.products.nodes.node_process import LogWords

WORDS = LogWords(
    # A node's usual lines on its tables and pools, at its start, and its warning about JMX as Plimsoll configures it.
    noise=(
        r"INFO .* (Memtable|LogTransaction|ColumnFamilyStore|SSTable|CompactionTask|StatusLogger)\.java:\d+ ",
        r"INFO .*(Node configuration:\[|JVM Arguments: |Classpath: | memory: init = )",
        r".*cassandra\.jmx\.local\.port missing",
    ),
    # It logs its final error three times.
    repeats=r"^Exception \(.*\) encountered during startup: ",
    remedies=(
        (r"Unable to gossip with any|Unable to contact any seeds", "see that the hosts reach each other by network"),
        # It uses ConfigurationException for nearly everything. If that names a setting, it is about that setting.
        (
            r"Invalid yaml|Please remove properties|ConfigurationException.*(\b[a-z]+(_[a-z]+)+\b|class)",
            "correct `settings` of the system or the variant",
        ),
    ),
)
