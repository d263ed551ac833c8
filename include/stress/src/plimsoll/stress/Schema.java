package plimsoll.stress;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.time.Duration;

/** Keyspace, tables and prepared statements of a workload. */
final class Schema {
    /** Changing a schema takes as long as the slowest node: not the time of an ordinary request. */
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private Schema() {}

    /**
     * Makes what is missing and prepares the statements.
     *
     * @throws StressException with {@link ExitCode#SCHEMA} if the database refuses, or its nodes do not agree
     */
    static Workload.Statements create(CqlSession session, Workload workload, RunOptions options)
            throws StressException {
        try {
            if (!options.noSchema) {
                createKeyspace(session, options);
                workload.schema(options.keyspace).forEach(table -> execute(session, table));
            }
            if (!session.checkSchemaAgreement()) {
                throw new StressException(ExitCode.SCHEMA, "the nodes do not agree on the schema");
            }
            return workload.prepare(session, options.keyspace);
        } catch (RuntimeException error) {
            throw new StressException(ExitCode.SCHEMA, "cannot make the schema of " + options.keyspace, error);
        }
    }

    private static void createKeyspace(CqlSession session, RunOptions options) {
        if (options.drop) {
            execute(session, "DROP KEYSPACE IF EXISTS " + options.keyspace);
        }
        String replication = options.replication != null
                ? options.replication
                : "{'class': 'SimpleStrategy', 'replication_factor': " + options.replicationFactor + "}";
        execute(session, "CREATE KEYSPACE IF NOT EXISTS " + options.keyspace + " WITH replication = " + replication);
    }

    private static void execute(CqlSession session, String statement) {
        session.execute(SimpleStatement.newInstance(statement).setTimeout(TIMEOUT));
    }
}
