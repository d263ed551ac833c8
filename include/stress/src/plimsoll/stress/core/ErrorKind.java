package plimsoll.stress.core;

import java.util.Locale;

/** How an operation failed. */
public enum ErrorKind {
    /** Not enough replicas answered the coordinator of a read in time. */
    READ_TIMEOUT,
    /** Not enough replicas answered the coordinator of a write in time. */
    WRITE_TIMEOUT,
    /** The coordinator knew too few live replicas. */
    UNAVAILABLE,
    /** A node refused the request because it was overloaded. */
    OVERLOADED,
    /** No answer within the request timeout. */
    CLIENT_TIMEOUT,
    /** There was no connection to any node, or it broke while the request was in flight. */
    CONNECTION,
    /** The operation was never sent, because it would have started later than the backlog's limit allows. */
    OVERFLOW,
    /** The operation was due or sent, and had no answer at the end of the drain phase. */
    UNFINISHED,
    /** Anything else, such as a read failure or a syntax error. */
    OTHER;

    public static final ErrorKind[] ALL = values();

    /** The name in JSON and in tags of logs. */
    public final String label = name().toLowerCase(Locale.ROOT);
}
