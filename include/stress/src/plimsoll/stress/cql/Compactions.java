package plimsoll.stress.cql;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.NodeState;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import java.time.Duration;

/** Compactions that run or wait on a cluster's nodes, from Cassandra's virtual tables (since 4.0). */
final class Compactions {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final String QUESTION =
            "SELECT active_tasks, pending_tasks FROM system_views.thread_pools WHERE name = 'CompactionExecutor'";

    private Compactions() {}

    /**
     * Returns the number over all nodes that are up; null where a node does not report it. Throws RuntimeException where
     * one does not answer.
     */
    static Long left(CqlSession session) {
        long left = 0;
        for (Node node : session.getMetadata().getNodes().values()) {
            if (node.getState() == NodeState.UP) {
                Long ofNode = left(session, node);
                if (ofNode == null) {
                    return null;
                }
                left += ofNode;
            }
        }
        return left;
    }

    private static Long left(CqlSession session, Node node) {
        try {
            Row row = session.execute(SimpleStatement.newInstance(QUESTION)
                            .setNode(node)
                            .setTimeout(TIMEOUT))
                    .one();
            return row == null ? null : (long) row.getInt("active_tasks") + row.getInt("pending_tasks");
        } catch (InvalidQueryException olderRelease) {
            return null;
        }
    }
}
