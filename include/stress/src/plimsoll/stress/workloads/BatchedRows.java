package plimsoll.stress.workloads;

import java.util.ArrayList;
import java.util.List;
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

/**
 * sberbank-2020's: every thread writes batches to its table in its own range of keys, or reads them, as the publication's
 * loader does: logged batches, sent as text.
 */
final class BatchedRows implements WorkloadType {
    @Override
    public String name() {
        return "BatchedRows";
    }

    @Override
    public String about() {
        return "Sberbank's workload of 2020: logged batches of rows by number, sent as text, each thread to one of several "
                + "tables and in a range of its own; reads of one key or of several at a time.";
    }

    @Override
    public List<Option> options() {
        return List.of(
                Option.count("tables", 4L, 1, 1000, "Tables, in turn over the threads"),
                Option.choice("batch", OwnStatements.LOGGED, OwnStatements.BATCHES, "Kind of the batches"),
                Option.count("batch_rows", 100L, 1, 10_000, "Rows of a batch"),
                Option.bool("prepared", false, "false: statements are sent as text with the values in it, as published"),
                Option.count("size", 10L, 1, 1_000_000, "Letters of a row's text"),
                Option.count("range", 1_000_000L, 1, "Keys of a thread; after the last it begins again"),
                Option.count("populate_batches", 0L, 0, "Batches of each thread before the timed run, for reads to find"),
                Option.count("at_a_time", 1L, 1, 1000, "Keys that a read asks for, `WHERE id IN (…)` (published: 1, 10, 100)"),
                Option.number("batches", 1.0, 0, 1e6, "Weight of batches"),
                Option.number("reads", 0.0, 0, 1e6, "Weight of reads"));
    }

    @Override
    public Workload make(Options options) {
        int tables = options.small("tables");
        int atATime = options.small("at_a_time");
        List<String> keys = numbered("id", atATime);
        List<Command> schema = new ArrayList<>();
        List<Command> inserts = new ArrayList<>();
        List<Command> selects = new ArrayList<>();
        for (int t = 1; t <= tables; t++) {
            KeyedTable table = new KeyedTable("t" + t, "id", "bigint", "id", List.of("title"));
            schema.add(table.schema());
            inserts.add(table.insert());
            selects.add(table.read(keys));
        }
        Source written = Sources.numbers(own(options));
        Source asked = Sources.numbers(own(options));
        Source title = Sources.letters(Distribution.of(random -> options.count("size")));
        List<Field> ids = new ArrayList<>();
        keys.forEach(key -> ids.add(Sources.field(key, asked)));
        Operation batches = Operation.named("batches")
                .share(Share.option("batches", options))
                .commands(Operation.Order.ONE_PER_THREAD, inserts)
                .rows(options.small("batch_rows"))
                .logged(options.text("batch").equals(OwnStatements.LOGGED))
                .prepared(options.truth("prepared"))
                .fields(Sources.field("id", written), Sources.field("title", title))
                .build();
        Operation reads = Operation.named("reads")
                .share(Share.option("reads", options))
                .commands(Operation.Order.ONE_PER_THREAD, selects)
                .prepared(options.truth("prepared"))
                .fields(ids)
                .build();
        long times = options.count("populate_batches");
        Population before = times == 0 ? Population.none() : Population.continued(batches, times);
        return new Workload(name(), schema, List.of(batches, reads), before);
    }

    /** Counts through a thread's own range. The ranges of the threads of one table lie side by side. */
    private static Distribution own(Options options) {
        long range = options.count("range");
        long tables = options.count("tables");
        return lane -> {
            long first = lane.index / tables * range;
            long[] next = {0};
            return random -> first + next[0]++ % range;
        };
    }

    private static List<String> numbered(String name, int count) {
        List<String> names = new ArrayList<>();
        for (int k = 0; k < count; k++) {
            names.add(name + k);
        }
        return names;
    }
}
