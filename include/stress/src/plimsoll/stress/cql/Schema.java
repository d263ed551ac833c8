package plimsoll.stress.cql;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import plimsoll.stress.core.Command;
import plimsoll.stress.core.ExitCode;
import plimsoll.stress.core.Operation;
import plimsoll.stress.core.StressException;
import plimsoll.stress.core.Workload;

/** Keyspace, tables and prepared statements of a workload. */
final class Schema {
    /** The timeout of schema changes, which take as long as the slowest node, longer than an ordinary request. */
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    /** The greatest time to wait for another generator to create the tables. */
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private static final long PAUSE_MILLIS = 500;

    private final CqlSession session;
    private final CqlOptions options;
    private final boolean makesTables;

    /** @param makesTables whether to create the tables: two generators at once may create two of the same name */
    Schema(CqlSession session, CqlOptions options, boolean makesTables) {
        this.session = session;
        this.options = options;
        this.makesTables = makesTables;
    }

    /**
     * Creates missing tables, or waits until another generator has created them, and prepares every statement.
     *
     * @throws StressException with {@link ExitCode#SCHEMA} if the database refuses, or its nodes do not agree
     */
    Map<Operation, Action> ready(Workload workload) throws StressException {
        if (makesTables) {
            create(workload);
            return prepared(workload);
        }
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                use();
                return prepared(workload);
            } catch (StressException error) {
                if (System.nanoTime() > end) {
                    throw error;
                }
                pause();
            }
        }
    }

    private void create(Workload workload) throws StressException {
        if (!options.noSchema) {
            createKeyspace();
        }
        use();
        if (!options.noSchema) {
            for (Command table : workload.schema) {
                attempt(table, () -> execute(text(table)));
            }
            if (options.noAutoSnapshot) {
                keepNoCopies();
            }
        }
    }

    /** Has the database drop the tables without a copy of them, if it has an option for that: Cassandra since 5.0. */
    private void keepNoCopies() throws StressException {
        String columns = "SELECT column_name FROM system_schema.columns WHERE keyspace_name = 'system_schema' "
                + "AND table_name = 'tables' AND column_name = 'allow_auto_snapshot'";
        String tables = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = '" + options.keyspace + "'";
        attempt(new Command(tables, "tables of " + options.keyspace), () -> {
            if (session.execute(columns).one() != null) {
                for (Row table : session.execute(tables)) {
                    String name = "\"" + table.getString(0) + "\"";
                    execute("ALTER TABLE " + options.keyspace + "." + name + " WITH allow_auto_snapshot = false");
                }
            }
        });
    }

    /** Selects the keyspace, because the tables in users' statements have none before their names. */
    private void use() throws StressException {
        Command use = new Command("USE " + options.keyspace, "keyspace " + options.keyspace);
        attempt(use, () -> execute(use.statement));
    }

    private static void pause() throws StressException {
        try {
            Thread.sleep(PAUSE_MILLIS);
        } catch (InterruptedException error) {
            throw new StressException(ExitCode.INCOMPLETE, "interrupted");
        }
    }

    private Map<Operation, Action> prepared(Workload workload) throws StressException {
        if (!session.checkSchemaAgreement()) {
            throw new StressException(ExitCode.SCHEMA, "the nodes do not agree on the schema");
        }
        Map<Operation, Action> actions = new IdentityHashMap<>();
        for (Operation operation : workload.everyOperation()) {
            List<StatementMaker> makers = new ArrayList<>();
            for (Command command : operation.commands) {
                attempt(command, () -> makers.add(prepare(operation, command)));
            }
            actions.put(operation, Action.of(operation, makers));
        }
        return actions;
    }

    private StatementMaker prepare(Operation operation, Command command) {
        PreparedStatement prepared = session.prepare(text(command));
        return new StatementMaker(prepared, operation, session.getContext().getCodecRegistry());
    }

    private void createKeyspace() throws StressException {
        String replication = options.replication != null
                ? options.replication
                : "{'class': 'SimpleStrategy', 'replication_factor': " + options.replicationFactor + "}";
        String keyspace = "CREATE KEYSPACE IF NOT EXISTS " + options.keyspace + " WITH replication = " + replication;
        attempt(new Command(keyspace, "keyspace " + options.keyspace), () -> {
            if (options.drop) {
                execute("DROP KEYSPACE IF EXISTS " + options.keyspace);
            }
            execute(keyspace);
        });
    }

    private String text(Command command) {
        return command.statement.replace("{keyspace}", options.keyspace);
    }

    private void execute(String statement) {
        session.execute(SimpleStatement.newInstance(statement).setTimeout(TIMEOUT));
    }

    private void attempt(Command command, Runnable step) throws StressException {
        try {
            step.run();
        } catch (RuntimeException error) {
            throw new StressException(ExitCode.SCHEMA, Refusal.of(command.place, text(command), error));
        }
    }
}
