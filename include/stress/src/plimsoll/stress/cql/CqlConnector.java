package plimsoll.stress.cql;

import com.datastax.oss.driver.api.core.CqlSession;
import java.util.Map;
import plimsoll.stress.core.Completion;
import plimsoll.stress.core.Connector;
import plimsoll.stress.core.ErrorKind;
import plimsoll.stress.core.Operation;
import plimsoll.stress.core.StressException;
import plimsoll.stress.core.Workload;

/** Databases that speak CQL. */
public final class CqlConnector implements Connector {
    private final CqlOptions options;
    private final boolean makesTables;

    /** @param makesTables whether it creates keyspace and tables; otherwise it waits until another generator has */
    public CqlConnector(CqlOptions options, boolean makesTables) {
        this.options = options;
        this.makesTables = makesTables;
    }

    @Override
    public Connection connect(Workload workload, long rate) throws StressException {
        CqlSession session = Sessions.load(options, rate);
        try {
            return new Prepared(session, new Schema(session, options, makesTables).ready(workload));
        } catch (StressException | RuntimeException error) {
            session.forceCloseAsync();
            throw error;
        }
    }

    @Override
    public String target() {
        return options.hosts + ", port " + options.port;
    }

    /** A session with a workload's statements prepared. */
    private static final class Prepared implements Connection {
        private final CqlSession session;
        private final Map<Operation, Action> actions;

        Prepared(CqlSession session, Map<Operation, Action> actions) {
            this.session = session;
            this.actions = actions;
        }

        @Override
        public void send(Operation operation, int command, Object[][] rows, Completion end) {
            actions.get(operation).begin(session, command, rows, end);
        }

        @Override
        public ErrorKind kind(Throwable error) {
            return Errors.kind(error);
        }

        @Override
        public Long compactionsLeft() {
            return Compactions.left(session);
        }

        @Override
        public void close() {
            // An orderly close would wait for answers of a database that may be lost.
            session.forceCloseAsync();
        }
    }
}
