package plimsoll.stress.core;

/** A database that the load generator can connect to and prepare for a workload. */
public interface Connector {
    /**
     * Connects, creates missing tables of the workload, and has the database check every statement.
     *
     * @param rate operations per second that the connection must carry
     * @throws StressException if there is no connection, or the database refuses a statement
     */
    Connection connect(Workload workload, long rate) throws StressException;

    /** The database's addresses, for messages. */
    String target();

    /** A client that must be closed. */
    interface Connection extends Client, AutoCloseable {
        /**
         * The number of compactions that run or wait on all nodes together; null where the database does not report it.
         * Throws RuntimeException where it gives no answer.
         */
        Long compactionsLeft();

        /** Closes the connection at once, without waiting for answers. */
        @Override
        void close();
    }
}
