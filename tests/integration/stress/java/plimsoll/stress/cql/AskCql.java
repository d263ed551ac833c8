package plimsoll.stress.cql;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.NoNodeAvailableException;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.cql.Row;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.CompletionException;

/** Answers about the CQL client, for tests in Python. */
public final class AskCql {
    /** The kind that an error of the driver is taken for. */
    public static String kind(String name) {
        return Errors.kind(error(name)).label;
    }

    /** Every row of a time series as {@code key=text}, read through the driver; timestamps must be of version 1. */
    public static String rows(String host, String keyspace) {
        StringBuilder all = new StringBuilder();
        try (CqlSession session = CqlSession.builder()
                .addContactPoint(new InetSocketAddress(host, 9042))
                .withLocalDatacenter("datacenter1")
                .build()) {
            for (Row row : session.execute("SELECT * FROM " + keyspace + ".sensor_data")) {
                if (row.getUuid("timestamp").version() == 1) {
                    all.append(row.getString("sensor_id")).append('=').append(row.getString("data")).append(' ');
                }
            }
        }
        return all.toString().trim();
    }

    private static Throwable error(String name) {
        switch (name) {
            case "timeout":
                return new CompletionException(new DriverTimeoutException("late"));
            case "no_node":
                return new NoNodeAvailableException();
            case "all_failed":
                return AllNodesFailedException.fromErrors(Map.of());
            case "closed":
                return new ClosedConnectionException("gone");
            default:
                return new IllegalStateException(name);
        }
    }
}
