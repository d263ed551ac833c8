package plimsoll.stress.hbase;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AdvancedScanResultConsumer;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import plimsoll.stress.core.ExitCode;
import plimsoll.stress.core.StressException;

/** Connections to HBase, without ZooKeeper: region servers tell where everything is. */
final class Connections {
    /** The rate that one connection to a server carries without being the bottleneck, in ops/s. */
    private static final long RATE_OF_A_CONNECTION = 15_000;

    /** The longest wait for answers about tables, and for an operation that populates, with the client's own retries. */
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private Connections() {}

    static AsyncConnection open(HBaseOptions options, long rate) throws StressException {
        String servers = servers(options);
        NameLookup.byTheJvm();
        try {
            return await(ConnectionFactory.createAsyncConnection(configuration(options, servers, rate)));
        } catch (ExecutionException | TimeoutException | RuntimeException error) {
            throw new StressException(ExitCode.UNREACHABLE, "cannot connect to " + servers, error);
        }
    }

    /** Returns a table whose operations are sent once, and fail when their time is over. */
    static AsyncTable<AdvancedScanResultConsumer> once(
            AsyncConnection connection, TableName table, HBaseOptions options) {
        long rpc = options.rpcTimeout.toMillis();
        long operation = options.operationTimeout.toMillis();
        return connection
                .getTableBuilder(table)
                .setRpcTimeout(rpc, TimeUnit.MILLISECONDS)
                .setReadRpcTimeout(rpc, TimeUnit.MILLISECONDS)
                .setWriteRpcTimeout(rpc, TimeUnit.MILLISECONDS)
                .setOperationTimeout(operation, TimeUnit.MILLISECONDS)
                .setScanTimeout(operation, TimeUnit.MILLISECONDS)
                .setMaxAttempts(1)
                .build();
    }

    /** Waits for an answer about connections or tables, for {@link #PATIENCE} at most. */
    static <T> T await(CompletableFuture<T> asked) throws ExecutionException, TimeoutException, StressException {
        try {
            return asked.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException error) {
            throw new StressException(ExitCode.INCOMPLETE, "interrupted");
        }
    }

    static String servers(HBaseOptions options) {
        return Arrays.stream(options.hosts.split(","))
                .map(host -> host.trim() + ":" + options.port)
                .collect(Collectors.joining(","));
    }

    /** Operations that populate keep the client's own number of retries; those of the timed run have theirs by table. */
    private static Configuration configuration(HBaseOptions options, String servers, long rate) {
        Configuration configuration = HBaseConfiguration.create();
        configuration.set(
                HConstants.CLIENT_CONNECTION_REGISTRY_IMPL_CONF_KEY, "org.apache.hadoop.hbase.client.RpcConnectionRegistry");
        configuration.set("hbase.client.bootstrap.servers", servers);
        configuration.setLong(HConstants.HBASE_CLIENT_OPERATION_TIMEOUT, PATIENCE.toMillis());
        configuration.setLong(HConstants.HBASE_RPC_TIMEOUT_KEY, 5 * options.rpcTimeout.toMillis());
        // Where regions are is asked for again at once when it has changed, and not for as long as rows are populated.
        configuration.setLong(HConstants.HBASE_CLIENT_META_OPERATION_TIMEOUT, options.operationTimeout.toMillis());
        configuration.setLong("hbase.ipc.client.socket.timeout.connect", options.rpcTimeout.toMillis());
        long connections = (rate + RATE_OF_A_CONNECTION - 1) / RATE_OF_A_CONNECTION;
        configuration.setLong(
                HConstants.HBASE_CLIENT_IPC_POOL_SIZE,
                Math.min(connections, Math.max(1, Runtime.getRuntime().availableProcessors() / 2)));
        return configuration;
    }
}
