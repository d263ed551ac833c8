"""What HBase, HDFS and ZooKeeper say in their logs: errors with advice. Pure."""

from plimsoll.adapters.products.nodes.node_process import LogWords

WORDS = LogWords(
    noise=(
        r".*(STARTUP_MSG|SHUTDOWN_MSG|Client environment|Server environment|zookeeper\.ZooKeeperServer: +[\\/_| ]*$)",
        # At its start every process looks for what the first Master has yet to make in ZooKeeper.
        r".*ZKWatcher: .* Received unexpected KeeperException, re-throwing|.*KeeperException\$NoNodeException: ",
        r".*(util\.NativeCodeLoader|impl\.MetricsConfig: Cannot locate|org\.mortbay|jetty)",
    ),
    remedies=(
        (r"bind\(\.\.\) failed|Port in use", "end what listens there: `ss -ltnp` names it"),
        (r"ClockOutOfSyncException", "set the clocks of the hosts by NTP"),
        (
            r"Incompatible clusterIDs|not formatted|Not formatting",
            "remove the environment of the attempt from the host",
        ),
        (
            r"NoRouteToHost|UnknownHost|Connection refused|ConnectionLoss",
            "see that the hosts reach each other by network",
        ),
        (r"NumberFormatException|Illegal character|Invalid (value|configuration)", "correct `settings`"),
        (r"could only be written to 0 of the|NameNode low on available disk space", "free disk space on the host"),
    ),
)
