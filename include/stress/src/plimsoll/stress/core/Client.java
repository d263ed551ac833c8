package plimsoll.stress.core;

/** A connection to a database, ready to carry out one workload's operations. Safe to use from several threads. */
public interface Client {
    /**
     * Begins one operation. If this throws a RuntimeException, nothing was begun, and {@code end} is never called.
     *
     * @param operation one of the operations that this client was made ready for
     * @param command index of the command; where the first one is always carried out, of the one after it
     * @param rows the values of the operation's fields; several rows for a batch, one otherwise
     * @param end called once, from any thread
     */
    void send(Operation operation, int command, Object[][] rows, Completion end);

    /** Returns the kind of failure for an error of this client. */
    ErrorKind kind(Throwable error);

    /** Returns what an operation asks with that command, for messages. */
    default String words(Operation operation, int command) {
        return String.join("; ", operation.statements(command));
    }
}
