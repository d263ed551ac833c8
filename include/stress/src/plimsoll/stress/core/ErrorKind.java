package plimsoll.stress.core;

import java.util.Locale;

/** How an operation failed. */
public enum ErrorKind {
    /** A coordinator did not hear from enough replicas of a read in time. */
    READ_TIMEOUT,
    /** A coordinator did not hear from enough replicas of a write in time. */
    WRITE_TIMEOUT,
    /** A coordinator knew too few live replicas. */
    UNAVAILABLE,
    /** A node refused for overload. */
    OVERLOADED,
    /** No answer within the request timeout. */
    CLIENT_TIMEOUT,
    /** No connection to any node, or it broke with the request on its way. */
    CONNECTION,
    /** Never sent: it would have started later than the backlog's limit allows. */
    OVERFLOW,
    /** Sent or due, but without an answer at the end of the drain. */
    UNFINISHED,
    /** Anything else, such as a read failure or a syntax error. */
    OTHER;

    public static final ErrorKind[] ALL = values();

    /** The name in JSON and tags. */
    public final String label = name().toLowerCase(Locale.ROOT);
}
