package plimsoll.stress.core;

/** A connection to a database, ready to carry out one workload's operations. Safe to use from several threads. */
public interface Client {
    /**
     * Begins one operation. A RuntimeException means that nothing was begun, and that {@code end} will not be told.
     *
     * @param operation one of the operations that this client was made ready for
     * @param command which of the operation's commands; of those with a first one that is always carried out, which one after it
     * @param rows the values of the operation's fields; several rows for a batch, one otherwise
     * @param end is told once, from any thread
     */
    void send(Operation operation, int command, Object[][] rows, Completion end);

    /** Returns the kind of failure for an error of this client. */
    ErrorKind kind(Throwable error);
}
