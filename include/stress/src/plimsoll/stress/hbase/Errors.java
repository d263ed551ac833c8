package plimsoll.stress.hbase;

import static plimsoll.stress.core.ErrorKind.CLIENT_TIMEOUT;
import static plimsoll.stress.core.ErrorKind.CONNECTION;
import static plimsoll.stress.core.ErrorKind.OTHER;
import static plimsoll.stress.core.ErrorKind.OVERLOADED;
import static plimsoll.stress.core.ErrorKind.UNAVAILABLE;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.CallDroppedException;
import org.apache.hadoop.hbase.CallQueueTooBigException;
import org.apache.hadoop.hbase.NotServingRegionException;
import org.apache.hadoop.hbase.RegionTooBusyException;
import org.apache.hadoop.hbase.UnknownScannerException;
import org.apache.hadoop.hbase.client.NoServerForRegionException;
import org.apache.hadoop.hbase.client.RegionOfflineException;
import org.apache.hadoop.hbase.client.RetriesExhaustedException;
import org.apache.hadoop.hbase.exceptions.ConnectionClosedException;
import org.apache.hadoop.hbase.exceptions.ScannerResetException;
import org.apache.hadoop.hbase.exceptions.TimeoutIOException;
import org.apache.hadoop.hbase.ipc.CallTimeoutException;
import org.apache.hadoop.hbase.ipc.FailedServerException;
import org.apache.hadoop.hbase.ipc.FatalConnectionException;
import org.apache.hadoop.hbase.ipc.ServerNotRunningYetException;
import org.apache.hadoop.hbase.quotas.RpcThrottlingException;
import org.apache.hadoop.hbase.regionserver.RegionServerStoppedException;
import plimsoll.stress.core.ErrorKind;

/** Converts the client's exceptions to kinds of failure. */
final class Errors {
    private static final int DEEPEST = 20;
    /** What the operating system says of a connection whose other end is gone; no exception has a class for it. */
    private static final Pattern BROKEN = Pattern.compile("(^|: )(Connection reset|Broken pipe)( by peer)?$");

    private static final Map<ErrorKind, List<Class<? extends Throwable>>> KINDS = Map.of(
            CLIENT_TIMEOUT,
            List.of(
                    CallTimeoutException.class,
                    TimeoutIOException.class,
                    SocketTimeoutException.class,
                    TimeoutException.class),
            CONNECTION,
            List.of(
                    SocketException.class,
                    ClosedChannelException.class,
                    UnknownHostException.class,
                    ConnectionClosedException.class,
                    FailedServerException.class,
                    FatalConnectionException.class),
            OVERLOADED,
            List.of(
                    CallQueueTooBigException.class,
                    CallDroppedException.class,
                    RegionTooBusyException.class,
                    RpcThrottlingException.class),
            UNAVAILABLE,
            List.of(
                    NotServingRegionException.class,
                    RegionServerStoppedException.class,
                    ServerNotRunningYetException.class,
                    NoServerForRegionException.class,
                    RegionOfflineException.class,
                    UnknownScannerException.class,
                    ScannerResetException.class));

    private Errors() {}

    /**
     * Returns the kind of the outermost exception that has one. The client puts what happened into others, up to three
     * deep; it gives no cause where the time of an operation was over before its first attempt had ended.
     */
    static ErrorKind kind(Throwable error) {
        Throwable inner = error;
        for (int depth = 0; inner != null && depth < DEEPEST; depth++) {
            ErrorKind own = own(inner);
            if (own != OTHER) {
                return own;
            }
            inner = inner.getCause();
        }
        return OTHER;
    }

    private static ErrorKind own(Throwable error) {
        if (error instanceof RetriesExhaustedException && error.getCause() == null) {
            return CLIENT_TIMEOUT;
        }
        if (error instanceof IOException && error.getMessage() != null && BROKEN.matcher(error.getMessage()).find()) {
            return CONNECTION;
        }
        for (Map.Entry<ErrorKind, List<Class<? extends Throwable>>> kind : KINDS.entrySet()) {
            if (kind.getValue().stream().anyMatch(type -> type.isInstance(error))) {
                return kind.getKey();
            }
        }
        return OTHER;
    }
}
