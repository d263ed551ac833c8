package plimsoll.stress;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.NodeUnavailableException;
import com.datastax.oss.driver.api.core.connection.BusyConnectionException;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.connection.HeartbeatException;
import com.datastax.oss.driver.api.core.servererrors.BootstrappingException;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.api.core.servererrors.ReadTimeoutException;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import com.datastax.oss.driver.api.core.servererrors.WriteTimeoutException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionException;

/** How an operation failed. */
enum ErrorKind {
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

    static final ErrorKind[] ALL = values();

    /** The name in JSON and tags. */
    final String label = name().toLowerCase(Locale.ROOT);

    /** Sorts an exception of the driver; of a list of nodes' errors the first node's error counts. */
    static ErrorKind of(Throwable error) {
        if (error instanceof CompletionException && error.getCause() != null) {
            return of(error.getCause());
        }
        if (error instanceof AllNodesFailedException) {
            return ((AllNodesFailedException) error)
                    .getAllErrors().values().stream().findFirst().map(ErrorKind::ofFirst).orElse(CONNECTION);
        }
        return error instanceof DriverTimeoutException ? CLIENT_TIMEOUT : ofServer(error);
    }

    private static ErrorKind ofFirst(List<Throwable> errors) {
        return errors.isEmpty() ? CONNECTION : of(errors.get(0));
    }

    private static ErrorKind ofServer(Throwable error) {
        if (error instanceof ReadTimeoutException) {
            return READ_TIMEOUT;
        }
        if (error instanceof WriteTimeoutException) {
            return WRITE_TIMEOUT;
        }
        if (error instanceof UnavailableException) {
            return UNAVAILABLE;
        }
        if (error instanceof OverloadedException || error instanceof BootstrappingException) {
            return OVERLOADED;
        }
        return isConnection(error) ? CONNECTION : OTHER;
    }

    private static boolean isConnection(Throwable error) {
        return error instanceof ClosedConnectionException
                || error instanceof HeartbeatException
                || error instanceof BusyConnectionException
                || error instanceof NodeUnavailableException;
    }
}
