package plimsoll.stress.core;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** How an operation failed. */
public enum ErrorKind {
    /** Not enough replicas answered the coordinator of a read in time. */
    READ_TIMEOUT,
    /** Not enough replicas answered the coordinator of a write in time. */
    WRITE_TIMEOUT,
    /** A replica failed to read, and too few others answered. */
    READ_FAILURE,
    /** A replica failed to write, and too few others answered. */
    WRITE_FAILURE,
    /** The node that was asked met an error of its own. */
    SERVER_ERROR,
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
    /** Anything else, such as a syntax error or a value that does not fit. */
    OTHER;

    public static final ErrorKind[] ALL = values();

    /** The kinds of which the database's own words say more: why a replica failed, what is wrong with a statement. */
    static final Set<ErrorKind> EXPLAINED = EnumSet.of(READ_FAILURE, WRITE_FAILURE, SERVER_ERROR, OTHER);

    /** The name in JSON and in tags of logs. */
    public final String label = name().toLowerCase(Locale.ROOT);
}
