package plimsoll.stress.cql;

import static plimsoll.stress.core.ErrorKind.CLIENT_TIMEOUT;
import static plimsoll.stress.core.ErrorKind.CONNECTION;
import static plimsoll.stress.core.ErrorKind.OTHER;
import static plimsoll.stress.core.ErrorKind.OVERLOADED;
import static plimsoll.stress.core.ErrorKind.READ_FAILURE;
import static plimsoll.stress.core.ErrorKind.READ_TIMEOUT;
import static plimsoll.stress.core.ErrorKind.SERVER_ERROR;
import static plimsoll.stress.core.ErrorKind.UNAVAILABLE;
import static plimsoll.stress.core.ErrorKind.WRITE_FAILURE;
import static plimsoll.stress.core.ErrorKind.WRITE_TIMEOUT;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.NodeUnavailableException;
import com.datastax.oss.driver.api.core.connection.BusyConnectionException;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.connection.HeartbeatException;
import com.datastax.oss.driver.api.core.servererrors.BootstrappingException;
import com.datastax.oss.driver.api.core.servererrors.CASWriteUnknownException;
import com.datastax.oss.driver.api.core.servererrors.CDCWriteFailureException;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.api.core.servererrors.ReadFailureException;
import com.datastax.oss.driver.api.core.servererrors.ReadTimeoutException;
import com.datastax.oss.driver.api.core.servererrors.ServerError;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import com.datastax.oss.driver.api.core.servererrors.WriteFailureException;
import com.datastax.oss.driver.api.core.servererrors.WriteTimeoutException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.regex.Pattern;
import plimsoll.stress.core.ErrorKind;

/** Converts the driver's exceptions to kinds of failure. */
final class Errors {
    /** What the driver says of a connection that broke or is being closed, in exceptions that others throw, too. */
    private static final Pattern BROKEN =
            Pattern.compile("connection reset|broken pipe|connection timed out|channel is clos", Pattern.CASE_INSENSITIVE);

    private Errors() {}

    /** Returns the kind of an exception of the driver. In a list of nodes' errors, the first node's error counts. */
    static ErrorKind kind(Throwable error) {
        if (error instanceof CompletionException && error.getCause() != null) {
            return kind(error.getCause());
        }
        if (error instanceof AllNodesFailedException) {
            return ((AllNodesFailedException) error)
                    .getAllErrors().values().stream().findFirst().map(Errors::ofFirst).orElse(CONNECTION);
        }
        return error instanceof DriverTimeoutException ? CLIENT_TIMEOUT : ofServer(error);
    }

    private static ErrorKind ofFirst(List<Throwable> errors) {
        return errors.isEmpty() ? CONNECTION : kind(errors.get(0));
    }

    private static ErrorKind ofServer(Throwable error) {
        if (error instanceof ReadTimeoutException) {
            return READ_TIMEOUT;
        }
        if (error instanceof WriteTimeoutException || error instanceof CASWriteUnknownException) {
            return WRITE_TIMEOUT;
        }
        if (error instanceof ReadFailureException) {
            return READ_FAILURE;
        }
        if (error instanceof WriteFailureException || error instanceof CDCWriteFailureException) {
            return WRITE_FAILURE;
        }
        if (error instanceof ServerError) {
            return SERVER_ERROR;
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
                || error instanceof NodeUnavailableException
                || error instanceof ClosedChannelException
                || isBroken(error);
    }

    private static boolean isBroken(Throwable error) {
        boolean mayBe = error instanceof IOException || error instanceof IllegalStateException;
        return mayBe && error.getMessage() != null && BROKEN.matcher(error.getMessage()).find();
    }
}
