package plimsoll.stress.hbase;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.ClosedChannelException;
import java.util.Arrays;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.CallQueueTooBigException;
import org.apache.hadoop.hbase.NotServingRegionException;
import org.apache.hadoop.hbase.RegionTooBusyException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.RetriesExhaustedException;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.exceptions.TimeoutIOException;
import org.apache.hadoop.hbase.ipc.CallTimeoutException;
import org.apache.hadoop.hbase.util.Bytes;
import plimsoll.stress.core.StressException;

/** Answers questions about the client of HBase, a line each, for tests in Python. */
public final class AskHBase {
    public static void main(String[] arguments) {
        Scanner questions = new Scanner(System.in);
        while (questions.hasNextLine()) {
            System.out.println(answer(questions.nextLine().split(" ")));
        }
    }

    private static Object answer(String[] question) {
        switch (question[0]) {
            case "kind":
                return Errors.kind(error(question[1])).label;
            case "key":
                Object key = question[1].matches("\\d+") ? (Object) Long.valueOf(question[1]) : question[1];
                return Bytes.toHex(RowKeys.of(key));
            case "splits":
                byte[][] splits = RowKeys.splits(Integer.parseInt(question[1]));
                return splits == null ? "" : Arrays.stream(splits).map(Bytes::toHex).collect(Collectors.joining(" "));
            case "spread":
                return spread(question[1], Integer.parseInt(question[2]), Integer.parseInt(question[3]));
            case "table":
                return table(question[1], question[2], question[3]);
            default:
                throw new IllegalArgumentException(question[0]);
        }
    }

    /** The regions, the block encoding, the compression and the rows of a table. */
    private static String table(String host, String namespace, String name) {
        HBaseOptions options = new HBaseOptions();
        options.hosts = host;
        TableName table = TableName.valueOf(namespace, name);
        try (AsyncConnection connection = Connections.open(options, 1)) {
            ColumnFamilyDescriptor family =
                    connection.getAdmin().getDescriptor(table).join().getColumnFamilies()[0];
            int regions = connection.getAdmin().getRegions(table).join().size();
            int rows = connection.getTable(table).scanAll(new Scan()).join().size();
            return regions + " " + family.getDataBlockEncoding() + " " + family.getCompressionType() + " " + rows;
        } catch (StressException | IOException error) {
            throw new IllegalArgumentException(error);
        }
    }

    /** The least and the most of so many keys that a region of so many gets: numbers, or texts that begin with a word. */
    private static String spread(String word, int keys, int regions) {
        byte[][] splits = RowKeys.splits(regions);
        long[] counts = new long[regions];
        for (long number = 0; number < keys; number++) {
            byte[] key = RowKeys.of(word.equals("-") ? (Object) number : word + number);
            int region = 0;
            while (region < splits.length && Bytes.compareTo(key, splits[region]) >= 0) {
                region++;
            }
            counts[region]++;
        }
        return Arrays.stream(counts).min().getAsLong() + " " + Arrays.stream(counts).max().getAsLong();
    }

    private static Throwable error(String name) {
        switch (name) {
            case "late":
                return exhausted(new CallTimeoutException("late"));
            case "slow":
                return exhausted(new TimeoutIOException("slow"));
            case "unended":
                return new CompletionException(new RetriesExhaustedException(0, List.of()));
            case "refused":
                return exhausted(new ConnectException("refused"));
            case "reset":
                return exhausted(new IOException("Call to a failed on local exception", failed("Connection reset by peer")));
            case "broken":
                return exhausted(failed("write(..) failed: Broken pipe"));
            case "closed":
                return exhausted(new IOException("call failed", new ClosedChannelException()));
            case "full":
                return exhausted(new CallQueueTooBigException());
            case "busy":
                return exhausted(new RegionTooBusyException("busy"));
            case "moved":
                return exhausted(new NotServingRegionException("moved"));
            default:
                return exhausted(new IllegalStateException(name));
        }
    }

    private static IOException failed(String told) {
        return new IOException(told);
    }

    /** As the client puts it: what happened, in what says how often that was. */
    private static Throwable exhausted(Throwable cause) {
        RetriesExhaustedException.ThrowableWithExtraContext attempt =
                new RetriesExhaustedException.ThrowableWithExtraContext(cause, 0, "attempt");
        return new CompletionException(new RetriesExhaustedException(0, List.of(attempt)));
    }
}
