package plimsoll.stress.workloads;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import plimsoll.stress.core.Command;
import plimsoll.stress.core.Field;
import plimsoll.stress.core.Operation;
import plimsoll.stress.core.Option;
import plimsoll.stress.core.Options;
import plimsoll.stress.core.Population;
import plimsoll.stress.core.Share;
import plimsoll.stress.core.Source;
import plimsoll.stress.core.Workload;
import plimsoll.stress.core.WorkloadType;
import plimsoll.stress.core.distribution.Distribution;
import plimsoll.stress.core.distribution.Distributions;

/** cassandra-stress' standard1: rows with a key of 10 bytes and five columns of 34 bytes; writes, reads, or both. */
final class StandardRow implements WorkloadType {
    private static final int COLUMNS = 5;
    private static final int KEY_DIGITS = 10;
    private static final String TABLE = "CREATE TABLE IF NOT EXISTS {keyspace}.standard1 (key blob PRIMARY KEY, "
            + "\"C0\" blob, \"C1\" blob, \"C2\" blob, \"C3\" blob, \"C4\" blob) WITH compression = {'enabled': 'false'}";
    private static final String WRITE = "UPDATE {keyspace}.standard1 SET \"C0\" = :c0, \"C1\" = :c1, \"C2\" = :c2, "
            + "\"C3\" = :c3, \"C4\" = :c4 WHERE key = :key";
    private static final String READ =
            "SELECT \"C0\", \"C1\", \"C2\", \"C3\", \"C4\" FROM {keyspace}.standard1 WHERE key = :key";

    @Override
    public String name() {
        return "StandardRow";
    }

    @Override
    public String about() {
        return "cassandra-stress' standard1: five columns of 34 bytes without compression by a blob; writes, reads or "
                + "both, of keys that are uniform, Gaussian or in sequence. Keys are its form, not its very bytes.";
    }

    @Override
    public List<Option> options() {
        return List.of(
                Option.count("rows", 1_000_000L, 1, "Rows to populate, and to draw keys from (cassandra-stress: n)"),
                Option.number("write", 1.0, 0, 1e6, "Weight of writes (cassandra-stress: ratio)"),
                Option.number("read", 1.0, 0, 1e6, "Weight of reads (cassandra-stress: ratio)"),
                Option.choice(
                        "keys",
                        "gaussian",
                        List.of("gaussian", "uniform", "sequence"),
                        "How keys are drawn (cassandra-stress: -pop dist)"),
                Option.number("mean", null, 0, 1e18, "Gaussian keys: mean; by default the middle")
                        .orNone(),
                Option.number("deviation", null, 1e-9, 1e18, "Gaussian keys: standard deviation; by default half of the "
                                + "rows over 3")
                        .orNone(),
                Option.count("column_size", 34L, 1, 1_000_000, "Bytes of each of the five columns"),
                Option.choice(
                        "compaction",
                        "size-tiered",
                        List.of("size-tiered", "leveled"),
                        "Strategy of the table's compaction (cassandra-stress: -schema compaction)"));
    }

    @Override
    public Workload make(Options options) {
        long rows = options.count("rows");
        Source drawn = Sources.of(drawn(options), StandardRow::key);
        Source row = Sources.of(Sources.row(rows), StandardRow::key);
        long size = options.count("column_size");
        Operation writes = Operation.named("writes")
                .share(Share.option("write", options))
                .statements(WRITE)
                .fields(row(drawn, size))
                .build();
        Operation reads = Operation.named("reads")
                .share(Share.option("read", options))
                .statements(READ)
                .fields(Sources.field("key", drawn))
                .build();
        Operation populate =
                Operation.named("writes").statements(WRITE).fields(row(row, size)).build();
        Operation readBack =
                Operation.named("reads").statements(READ).fields(Sources.field("key", row)).build();
        return new Workload(
                name(),
                List.of(new Command(table(options), "table standard1")),
                List.of(writes, reads),
                Population.numbered(populate, rows, readBack));
    }

    private static String table(Options options) {
        return options.text("compaction").equals("leveled")
                ? TABLE + " AND compaction = {'class': 'LeveledCompactionStrategy'}"
                : TABLE;
    }

    private static Distribution drawn(Options options) {
        Map<String, Object> parameters = new TreeMap<>();
        parameters.put("max", options.count("rows") - 1);
        String keys = options.text("keys");
        parameters.put(Distributions.NAME, keys.equals("gaussian") ? "normal" : keys);
        if (keys.equals("gaussian")) {
            parameters.put("outside", "clamp");
            putIfGiven(parameters, options, "mean");
            putIfGiven(parameters, options, "deviation");
        }
        return Distributions.of(parameters);
    }

    private static void putIfGiven(Map<String, Object> parameters, Options options, String name) {
        if (options.has(name)) {
            parameters.put(name, options.number(name));
        }
    }

    private static List<Field> row(Source key, long size) {
        List<Field> fields = new ArrayList<>(List.of(Sources.field("key", key)));
        Source column = Sources.bytes(Distribution.of(random -> size));
        for (int c = 0; c < COLUMNS; c++) {
            fields.add(Sources.field("c" + c, column));
        }
        return fields;
    }

    /** Returns ten digits of base 36, the last one first: keys of cassandra-stress have the same length. */
    private static Object key(long number) {
        StringBuilder digits = new StringBuilder(Long.toString(number, 36)).reverse();
        while (digits.length() < KEY_DIGITS) {
            digits.append('0');
        }
        return ByteBuffer.wrap(digits.toString().getBytes(StandardCharsets.US_ASCII));
    }
}
