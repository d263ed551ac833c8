package plimsoll.stress;

import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.time.Duration;
import java.util.List;

/** A write that every node has to acknowledge, through every node, in a keyspace that exists for it only. */
final class ScratchWrite {
    private static final String KEYSPACE = "plimsoll_probe";
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final int replicas;

    ScratchWrite(int replicas) {
        this.replicas = replicas;
    }

    /** Null if all of it worked; what did not otherwise. Can be tried again. */
    String through(List<NodeProbe> nodes) {
        String problem = execute(
                nodes.get(0),
                "CREATE KEYSPACE IF NOT EXISTS " + KEYSPACE
                        + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': " + replicas + "}");
        if (problem == null) {
            problem = execute(
                    nodes.get(0),
                    "CREATE TABLE IF NOT EXISTS " + KEYSPACE + ".written (node text PRIMARY KEY)");
        }
        for (NodeProbe node : nodes) {
            if (problem == null) {
                problem = execute(node, "INSERT INTO " + KEYSPACE + ".written (node) VALUES ('" + node.address() + "')");
            }
        }
        String left = execute(nodes.get(0), "DROP KEYSPACE IF EXISTS " + KEYSPACE);
        return problem == null ? left : problem;
    }

    private static String execute(NodeProbe node, String statement) {
        try {
            node.execute(SimpleStatement.newInstance(statement)
                    .setConsistencyLevel(DefaultConsistencyLevel.ALL)
                    .setTimeout(TIMEOUT));
            return null;
        } catch (RuntimeException error) {
            return node.address() + " did not carry out \"" + statement + "\": " + error.getMessage();
        }
    }
}
