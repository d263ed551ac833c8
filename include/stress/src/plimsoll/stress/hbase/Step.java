package plimsoll.stress.hbase;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import plimsoll.stress.core.Access;

/** What one command sends. The result is the number of rows that were found, or written. */
interface Step {
    CompletableFuture<Integer> begin(Object[][] rows);

    static Step of(Access access, Columns columns, AsyncTable<?> table) {
        switch (access.kind) {
            case READ:
                return access.keys.size() > 1 ? readSeveral(access, columns, table) : read(access, columns, table);
            case SCAN:
                return scan(access, columns, table);
            default:
                return write(access, columns, table);
        }
    }

    private static Step read(Access access, Columns columns, AsyncTable<?> table) {
        int key = columns.index(access.keys.get(0));
        byte[][] wanted = columns.names(access.columns);
        return rows -> table.get(get(rows[0][key], wanted)).thenApply(result -> result.isEmpty() ? 0 : 1);
    }

    private static Step readSeveral(Access access, Columns columns, AsyncTable<?> table) {
        int[] keys = columns.indices(access.keys);
        byte[][] wanted = columns.names(access.columns);
        return rows -> {
            List<Get> gets = new ArrayList<>(keys.length);
            for (int key : keys) {
                gets.add(get(rows[0][key], wanted));
            }
            return table.getAll(gets).thenApply(Step::found);
        };
    }

    private static Step scan(Access access, Columns columns, AsyncTable<?> table) {
        int key = columns.index(access.keys.get(0));
        int limit = columns.index(access.limit);
        return rows -> {
            Scan scan = new Scan()
                    .withStartRow(RowKeys.of(rows[0][key]))
                    .setLimit(Math.toIntExact((Long) rows[0][limit]));
            return table.scanAll(scan).thenApply(List::size);
        };
    }

    private static Step write(Access access, Columns columns, AsyncTable<?> table) {
        int key = columns.index(access.keys.get(0));
        int[] values = columns.indices(access.columns);
        byte[][] names = columns.names(access.columns);
        return rows -> {
            if (rows.length == 1) {
                return table.put(put(rows[0], key, values, names)).thenApply(nothing -> 1);
            }
            List<Put> puts = new ArrayList<>(rows.length);
            for (Object[] row : rows) {
                puts.add(put(row, key, values, names));
            }
            return table.putAll(puts).thenApply(nothing -> rows.length);
        };
    }

    private static Get get(Object key, byte[][] wanted) {
        Get get = new Get(RowKeys.of(key));
        for (byte[] name : wanted) {
            get.addColumn(Tables.FAMILY, name);
        }
        return get;
    }

    private static Put put(Object[] row, int key, int[] values, byte[][] names) {
        Put put = new Put(RowKeys.of(row[key]));
        for (int c = 0; c < names.length; c++) {
            put.addColumn(Tables.FAMILY, names[c], RowKeys.bytes(row[values[c]]));
        }
        return put;
    }

    private static int found(List<Result> results) {
        return (int) results.stream().filter(result -> !result.isEmpty()).count();
    }
}
