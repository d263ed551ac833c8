package plimsoll.stress.workloads;

import java.util.List;
import plimsoll.stress.core.Operation;
import plimsoll.stress.core.Option;
import plimsoll.stress.core.Options;
import plimsoll.stress.core.Population;
import plimsoll.stress.core.Share;
import plimsoll.stress.core.Source;
import plimsoll.stress.core.Workload;
import plimsoll.stress.core.WorkloadType;
import plimsoll.stress.core.distribution.Scrambled;

/** NoSQLBench's `cql-keyvalue` of April 2021: a text by a text key, read as often as written. */
final class KeyValue implements WorkloadType {
    private static final KeyedTable TABLE = new KeyedTable("keyvalue", "key", "text", "key", List.of("value"));

    @Override
    public String name() {
        return "KeyValue";
    }

    @Override
    public String about() {
        return "NoSQLBench's baseline cql-keyvalue of April 2021: reads and writes of one text by its key, as often each.";
    }

    @Override
    public List<Option> options() {
        return List.of(
                Option.count("rows", 10_000_000L, 0, "Rows to populate (NoSQLBench: rampup-cycles)"),
                Option.count("keycount", 1_000_000_000L, 1, "Number of keys that the timed run draws from"),
                Option.count("valuecount", 1_000_000_000L, 1, "Number of values"),
                Option.number("reads", 5.0, 0, 1e6, "Weight of reads"),
                Option.number("writes", 5.0, 0, 1e6, "Weight of writes"));
    }

    @Override
    public Workload make(Options options) {
        long keys = options.count("keycount");
        long values = options.count("valuecount");
        Source rows = Sources.of(Sources.row(options.count("rows")), row -> String.valueOf(row % keys));
        Source key = Sources.of(Sources.uniform(0, keys - 1), String::valueOf);
        Source value = Sources.of(Sources.uniform(0, values - 1), String::valueOf);
        Source hashed = Sources.of(
                Sources.row(options.count("rows")), row -> String.valueOf(Scrambled.hash(row) % values));
        Operation reads = Operation.named("reads")
                .share(Share.option("reads", options))
                .commands(TABLE.read())
                .fields(Sources.field("key", key))
                .build();
        Operation writes = Operation.named("writes")
                .share(Share.option("writes", options))
                .commands(TABLE.insert())
                .fields(Sources.field("key", key), Sources.field("value", value))
                .build();
        Operation populate = Operation.named("writes")
                .commands(TABLE.insert())
                .fields(Sources.field("key", rows), Sources.field("value", hashed))
                .build();
        Operation readBack =
                Operation.named("reads").commands(TABLE.read()).fields(Sources.field("key", rows)).build();
        return new Workload(
                name(),
                List.of(TABLE.schema()),
                List.of(reads, writes),
                Population.numbered(populate, options.count("rows"), readBack));
    }
}
