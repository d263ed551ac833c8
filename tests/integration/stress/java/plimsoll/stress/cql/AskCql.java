package plimsoll.stress.cql;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.NoNodeAvailableException;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.ColumnDefinitions;
import com.datastax.oss.driver.api.core.cql.ExecutionInfo;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.CASWriteUnknownException;
import com.datastax.oss.driver.api.core.servererrors.CDCWriteFailureException;
import com.datastax.oss.driver.api.core.servererrors.ReadFailureException;
import com.datastax.oss.driver.api.core.servererrors.ServerError;
import com.datastax.oss.driver.api.core.servererrors.WriteFailureException;
import com.datastax.oss.driver.api.core.servererrors.WriteType;
import com.datastax.oss.driver.api.core.type.DataType;
import com.datastax.oss.driver.api.core.type.DataTypes;
import com.datastax.oss.driver.api.core.type.codec.registry.CodecRegistry;
import com.datastax.oss.driver.internal.core.cql.EmptyColumnDefinitions;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.channels.ClosedChannelException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import plimsoll.stress.core.Completion;
import plimsoll.stress.core.Connector;
import plimsoll.stress.core.Operation;
import plimsoll.stress.core.Population;
import plimsoll.stress.core.StressException;
import plimsoll.stress.core.Values;
import plimsoll.stress.core.Workload;

/** Answers about the CQL client, for tests in Python. */
public final class AskCql {
    private static final ConsistencyLevel ONE = ConsistencyLevel.ONE;
    private static final List<DataType> TYPES = List.of(
            DataTypes.TINYINT, DataTypes.SMALLINT, DataTypes.INT, DataTypes.UUID, DataTypes.TIMEUUID, DataTypes.DATE,
            DataTypes.BLOB, DataTypes.DECIMAL);

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

    /** The value of a type that is made of a whole number, {@code now}, or a text. */
    public static String value(String type, String given) {
        Object value = given.equals("now") ? Values.NOW : given.matches("\\d+") ? (Object) Long.valueOf(given) : given;
        DataType known = TYPES.stream()
                .filter(one -> one.asCql(false, false).equals(type))
                .findFirst()
                .orElse(DataTypes.INET);
        return String.valueOf(Types.of(known, "m").apply(value));
    }

    /** A statement with two markers as text with the literals of a text and a date. */
    public static String literals(String statement) {
        List<Object> values = List.of("it's ? :b", LocalDate.of(2026, 1, 31));
        List<DataType> types = List.of(DataTypes.TEXT, DataTypes.DATE);
        CodecRegistry codecs = CodecRegistry.DEFAULT;
        return new Literals(statement, 2)
                .with(m -> codecs.codecFor(types.get(m), values.get(m)).format(values.get(m)));
    }

    /** A statement without markers, as its database has prepared it. */
    private static PreparedStatement prepared(String statement) {
        return (PreparedStatement) answering(PreparedStatement.class, Map.of(
                "getVariableDefinitions", arguments -> EmptyColumnDefinitions.INSTANCE, "getQuery", arguments -> statement));
    }

    private static Object answering(Class<?> type, Map<String, Function<Object[], Object>> answers) {
        InvocationHandler handler = (proxy, method, arguments) -> answers.get(method.getName()).apply(arguments);
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler);
    }

    /**
     * What an operation on so many pages of two rows, each with a warning, tells: the warnings, and its rows or its
     * error. {@code second}: whether the second page {@code comes}, {@code fails}, or is {@code refused}.
     */
    public static String pages(int pages, String second, boolean firstPage) {
        Operation operation =
                Operation.named("reads").statements("SELECT 1").prepared(false).firstPage(firstPage).build();
        StatementMaker maker = new StatementMaker(prepared("SELECT 1"), operation, CodecRegistry.DEFAULT);
        CqlSession session = (CqlSession) answering(
                CqlSession.class, Map.of("executeAsync", arguments -> CompletableFuture.completedFuture(page(pages, second))));
        List<String> heard = new ArrayList<>();
        Action.of(operation, List.of(maker)).begin(session, 0, new Object[1][0], new Completion() {
            @Override
            public void ended(int rows, Throwable error) {
                heard.add(error == null ? String.valueOf(rows) : error.getMessage());
            }

            @Override
            public void warned(String warning) {
                heard.add(warning);
            }
        });
        return String.join(" ", heard);
    }

    private static AsyncResultSet page(int left, String next) {
        Object info = answering(ExecutionInfo.class, Map.of("getWarnings", arguments -> List.of("warned" + left)));
        return (AsyncResultSet) answering(AsyncResultSet.class, Map.of(
                "getExecutionInfo", arguments -> info,
                "getColumnDefinitions", arguments -> answering(
                        ColumnDefinitions.class, Map.of("size", none -> 1)),
                "remaining", arguments -> 2,
                "hasMorePages", arguments -> left > 1,
                "fetchNextPage", arguments -> following(left - 1, next)));
    }

    private static CompletableFuture<AsyncResultSet> following(int left, String next) {
        switch (next) {
            case "fails":
                return CompletableFuture.failedFuture(new IllegalStateException("failed"));
            case "refused":
                throw new IllegalStateException("refused");
            default:
                return CompletableFuture.completedFuture(page(left, next));
        }
    }

    /** The text of an unprepared batch of two rows. */
    public static String batch(boolean logged) {
        Operation operation = Operation.named("writes").statements("INSERT 1;").rows(2).prepared(false).build();
        StatementMaker maker = new StatementMaker(prepared("INSERT 1;"), operation, CodecRegistry.DEFAULT);
        return ((SimpleStatement) maker.batch(new Object[2][0], logged)).getQuery();
    }

    /** The number of rows that a read of a whole partition of {@code wide} ends with. */
    public static long fetched(String host, String keyspace, boolean firstPage) {
        Operation read = Operation.named("reads")
                .statements("SELECT n FROM wide WHERE part = 0")
                .firstPage(firstPage)
                .build();
        CqlOptions options = new CqlOptions();
        options.hosts = host;
        options.keyspace = keyspace;
        options.noSchema = true;
        CompletableFuture<Integer> rows = new CompletableFuture<>();
        try (Connector.Connection connection = new CqlConnector(options, true)
                .connect(new Workload("cql", List.of(), List.of(read), Population.none()), 1)) {
            connection.send(read, 0, new Object[1][0], (found, error) -> {
                if (error == null) {
                    rows.complete(found);
                } else {
                    rows.completeExceptionally(error);
                }
            });
            return rows.join();
        } catch (StressException error) {
            throw new IllegalArgumentException(error);
        }
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
            case "write_failure":
                return new CompletionException(
                        new WriteFailureException(null, ONE, 0, 1, WriteType.SIMPLE, 1, Map.of()));
            case "cdc":
                return new CDCWriteFailureException(null, "no room for changes");
            case "read_failure":
                return new ReadFailureException(null, ONE, 0, 1, 1, false, Map.of());
            case "lightweight":
                return new CASWriteUnknownException(null, ONE, 0, 1);
            case "server_error":
                return new ServerError(null, "java.lang.NullPointerException");
            case "closed_channel":
                return new ClosedChannelException();
            case "reset":
                return new SocketException("Connection reset");
            case "pipe":
                return new IOException("Broken pipe");
            case "no_address":
                return new BindException("Cannot assign requested address");
            case "closing":
                return new IllegalStateException("Channel is closing");
            default:
                return new IllegalStateException(name);
        }
    }
}
