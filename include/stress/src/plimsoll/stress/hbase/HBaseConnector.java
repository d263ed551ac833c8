package plimsoll.stress.hbase;

import java.io.IOException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import plimsoll.stress.core.Command;
import plimsoll.stress.core.Completion;
import plimsoll.stress.core.Connector;
import plimsoll.stress.core.ErrorKind;
import plimsoll.stress.core.ExitCode;
import plimsoll.stress.core.Operation;
import plimsoll.stress.core.StressException;
import plimsoll.stress.core.Workload;

/** HBase, asked by operations of its own client that are never buffered: each is sent when it is begun. */
final class HBaseConnector implements Connector {
    private final HBaseOptions options;
    private final boolean makesTables;

    /** @param makesTables whether it creates the tables; otherwise it waits until another generator has */
    HBaseConnector(HBaseOptions options, boolean makesTables) {
        this.options = options;
        this.makesTables = makesTables;
    }

    @Override
    public Connection connect(Workload workload, long rate) throws StressException {
        if (!workload.isByKey()) {
            throw new StressException(ExitCode.USAGE, workload.name + " consists of statements of CQL");
        }
        AsyncConnection connection = Connections.open(options, rate);
        try {
            Tables tables = new Tables(connection, options, names(workload));
            tables.ready(makesTables);
            return new Ready(connection, tables, actions(connection, workload));
        } catch (StressException | RuntimeException error) {
            close(connection);
            throw error;
        }
    }

    @Override
    public String target() {
        return Connections.servers(options);
    }

    private Set<TableName> names(Workload workload) {
        Set<TableName> names = new LinkedHashSet<>();
        for (Operation operation : workload.everyOperation()) {
            operation.commands.forEach(command -> names.add(name(command.access.table)));
        }
        return names;
    }

    private TableName name(String table) {
        return TableName.valueOf(options.namespace, table);
    }

    /** Only operations of the timed run are sent once: a row that is populated must be there in the end. */
    private Map<Operation, Action> actions(AsyncConnection connection, Workload workload) {
        Map<Operation, Action> actions = new IdentityHashMap<>();
        for (Operation operation : workload.everyOperation()) {
            boolean once = workload.operations.contains(operation);
            actions.put(operation, Action.of(operation, table -> table(connection, name(table), once)));
        }
        return actions;
    }

    private AsyncTable<?> table(AsyncConnection connection, TableName name, boolean once) {
        return once ? Connections.once(connection, name, options) : connection.getTable(name);
    }

    private static void close(AsyncConnection connection) {
        try {
            connection.close();
        } catch (IOException error) {
            // Nothing more is asked of it, and the process ends.
        }
    }

    /** A connection with the actions of a workload's operations. */
    private static final class Ready implements Connection {
        private final AsyncConnection connection;
        private final Tables tables;
        private final Map<Operation, Action> actions;

        Ready(AsyncConnection connection, Tables tables, Map<Operation, Action> actions) {
            this.connection = connection;
            this.tables = tables;
            this.actions = actions;
        }

        @Override
        public void send(Operation operation, int command, Object[][] rows, Completion end) {
            actions.get(operation).begin(command, rows, end);
        }

        @Override
        public ErrorKind kind(Throwable error) {
            return Errors.kind(error);
        }

        @Override
        public String words(Operation operation, int command) {
            List<String> accesses = new ArrayList<>();
            for (Command sent : operation.sent(command)) {
                accesses.add(sent.access.toString());
            }
            return String.join("; ", accesses);
        }

        @Override
        public Long compactionsLeft() {
            return tables.underCompaction();
        }

        @Override
        public void close() {
            HBaseConnector.close(connection);
        }
    }
}
