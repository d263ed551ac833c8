package plimsoll.nodes;

import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.time.Duration;
import java.util.List;

/** Writes through every node that all nodes must acknowledge, in a keyspace that exists only for them. */
final class ScratchWrite {
    private static final String KEYSPACE = "plimsoll_probe";
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final int replicas;

    ScratchWrite(int replicas) {
        this.replicas = replicas;
    }

    /** Makes the keyspace and the table. Like the other steps it returns null if it worked, otherwise the problem. */
    String prepare(NodeProbe node) {
        String problem = execute(
                node,
                "CREATE KEYSPACE IF NOT EXISTS " + KEYSPACE
                        + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': " + replicas + "}");
        return problem == null
                ? execute(node, "CREATE TABLE IF NOT EXISTS " + KEYSPACE + ".written (node text PRIMARY KEY)")
                : problem;
    }

    /** Writes one row through every node. All nodes must have the table. */
    String through(List<NodeProbe> nodes) {
        for (NodeProbe node : nodes) {
            String problem =
                    execute(node, "INSERT INTO " + KEYSPACE + ".written (node) VALUES ('" + node.address() + "')");
            if (problem != null) {
                return problem;
            }
        }
        return null;
    }

    /** Removes the keyspace. */
    String clear(NodeProbe node) {
        return execute(node, "DROP KEYSPACE IF EXISTS " + KEYSPACE);
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
