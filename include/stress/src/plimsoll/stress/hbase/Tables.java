package plimsoll.stress.hbase;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncAdmin;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import plimsoll.stress.core.ExitCode;
import plimsoll.stress.core.StressException;

/** The tables of a workload: made, divided into regions, and known to the client before the first operation. */
final class Tables {
    /** The only column family. A short name, as it is stored with every value. */
    static final byte[] FAMILY = {'f'};

    /** The greatest time to wait for another generator to create the tables, and for regions to be served. */
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private static final long PAUSE_MILLIS = 500;
    private static final Duration LOOK = Duration.ofSeconds(10);

    private final AsyncConnection connection;
    private final AsyncAdmin admin;
    private final HBaseOptions options;
    private final Collection<TableName> names;

    Tables(AsyncConnection connection, HBaseOptions options, Collection<TableName> names) {
        this.connection = connection;
        this.admin = connection.getAdmin();
        this.options = options;
        this.names = names;
    }

    /**
     * Creates missing tables, or waits until another generator has, until all regions are served. Then it asks where they
     * are and each for a row, so that nothing of that is left to the first operations.
     *
     * @param makesTables whether to create the tables: two generators at once would both find none
     * @throws StressException with {@link ExitCode#SCHEMA} if HBase refuses, or does not serve them in time
     */
    void ready(boolean makesTables) throws StressException {
        TableName at = null;
        try {
            if (makesTables && !options.noSchema) {
                makeNamespace();
            }
            for (TableName name : names) {
                at = name;
                if (makesTables && !options.noSchema) {
                    make(name);
                }
                awaitRegions(name);
                locate(name);
            }
        } catch (ExecutionException | TimeoutException error) {
            String what = at == null ? "namespace " + options.namespace : "table " + at;
            throw new StressException(ExitCode.SCHEMA, what + " is not to be had", cause(error));
        }
    }

    /**
     * Returns the number of tables that have compactions which run or wait. Throws IllegalStateException where that is
     * not answered.
     */
    long underCompaction() {
        long found = 0;
        try {
            for (TableName name : names) {
                CompactionState state = admin.getCompactionState(name).get(LOOK.toMillis(), TimeUnit.MILLISECONDS);
                found += state == CompactionState.NONE ? 0 : 1;
            }
            return found;
        } catch (ExecutionException | TimeoutException | InterruptedException error) {
            throw new IllegalStateException("no answer on the compactions of tables: " + error, error);
        }
    }

    private void makeNamespace() throws ExecutionException, TimeoutException, StressException {
        if (!Connections.await(admin.listNamespaces()).contains(options.namespace)) {
            Connections.await(admin.createNamespace(
                    NamespaceDescriptor.create(options.namespace).build()));
        }
    }

    private void make(TableName name) throws ExecutionException, TimeoutException, StressException {
        boolean exists = Connections.await(admin.tableExists(name));
        if (exists && options.drop) {
            if (Connections.await(admin.isTableEnabled(name))) {
                Connections.await(admin.disableTable(name));
            }
            Connections.await(admin.deleteTable(name));
        }
        if (!exists || options.drop) {
            byte[][] splits = RowKeys.splits(options.regions);
            TableDescriptor table = described(name);
            Connections.await(splits == null ? admin.createTable(table) : admin.createTable(table, splits));
        }
    }

    private TableDescriptor described(TableName name) {
        return TableDescriptorBuilder.newBuilder(name)
                .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY)
                        .setDataBlockEncoding(DataBlockEncoding.valueOf(options.blockEncoding))
                        .setCompressionType(Compression.Algorithm.valueOf(options.compression))
                        .build())
                .build();
    }

    private void awaitRegions(TableName name) throws ExecutionException, TimeoutException, StressException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!Connections.await(admin.tableExists(name)) || !Connections.await(admin.isTableAvailable(name))) {
            if (System.nanoTime() > end) {
                throw new TimeoutException("not all of its regions are served after " + PATIENCE.toMinutes() + " min");
            }
            try {
                Thread.sleep(PAUSE_MILLIS);
            } catch (InterruptedException error) {
                throw new StressException(ExitCode.INCOMPLETE, "interrupted");
            }
        }
    }

    /** The locator keeps the locations that it was asked for. */
    private void locate(TableName name) throws ExecutionException, TimeoutException, StressException {
        AsyncTable<?> table = connection.getTable(name);
        List<CompletableFuture<?>> asked = new ArrayList<>();
        for (HRegionLocation location : Connections.await(connection.getRegionLocator(name).getAllRegionLocations())) {
            byte[] first = location.getRegion().getStartKey();
            asked.add(table.get(new Get(first.length == 0 ? new byte[Short.BYTES] : first)));
        }
        Connections.await(CompletableFuture.allOf(asked.toArray(new CompletableFuture<?>[0])));
    }

    private static Throwable cause(Exception error) {
        return error instanceof ExecutionException && error.getCause() != null ? error.getCause() : error;
    }
}
