package plimsoll.stress.core;

/** Where the database is, and how to make it ready for a workload. */
public interface Connector {
    /**
     * Connects, makes what the workload needs if it is not there, and has the database check every statement.
     *
     * @param rate operations a second that are to be carried
     * @throws StressException if there is no connection, or the database refuses a statement
     */
    Connection connect(Workload workload, long rate) throws StressException;

    /** Addresses, for people. */
    String target();

    /** A client that somebody must close. */
    interface Connection extends Client, AutoCloseable {
        /** Compactions that run or wait on all nodes together; null where the database does not tell. */
        Long compactionsLeft();

        /** Ends at once, without waiting for answers. */
        @Override
        void close();
    }
}
