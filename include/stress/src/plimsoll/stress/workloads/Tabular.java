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

/** NoSQLBench's `cql-tabular` of April 2021: wide partitions of rows with eight texts of growing length. */
final class Tabular implements WorkloadType {
    private static final int[][] LENGTHS = {
        {9, 11}, {18, 22}, {27, 33}, {45, 55}, {72, 88}, {107, 143}, {189, 231}, {306, 374}
    };
    private static final String TABLE = "CREATE TABLE IF NOT EXISTS {keyspace}.tabular (part text, clust text, "
            + "data0 text, data1 text, data2 text, data3 text, data4 text, data5 text, data6 text, data7 text, "
            + "PRIMARY KEY (part, clust))";
    private static final String WRITE = "INSERT INTO {keyspace}.tabular "
            + "(part, clust, data0, data1, data2, data3, data4, data5, data6, data7) "
            + "VALUES (:part, :clust, :data0, :data1, :data2, :data3, :data4, :data5, :data6, :data7)";
    private static final List<String> COLUMNS = List.of(
            "*",
            "data0, data1",
            "data0, data2, data4, data6",
            "data1, data3, data5, data7",
            "data0, data1, data2, data3",
            "data4, data5, data6, data7",
            "data0, data1, data2, data3, data4, data5, data6, data7",
            "*");

    @Override
    public String name() {
        return "Tabular";
    }

    @Override
    public String about() {
        return "NoSQLBench's baseline cql-tabular of April 2021: inserts, and as many selects of 1 to 10 rows of a "
                + "partition in eight forms.";
    }

    @Override
    public List<Option> options() {
        return List.of(
                Option.count("rows", 10_000_000L, 0, "Rows to populate (NoSQLBench: rampup-cycles, 10 billion)"),
                Option.count("partsize", 1_000L, 1, "Rows of a partition while populating (NoSQLBench: rampup's partsize)"),
                Option.count(
                        "main_partsize", 1_000_000L, 1, "Rows of a partition in the timed run (NoSQLBench: main's partsize)"),
                Option.count("partcount", 100L, 1, "Partitions in the timed run"),
                Option.number("reads", 8.0, 0, 1e6, "Weight of reads"),
                Option.number("writes", 8.0, 0, 1e6, "Weight of writes"));
    }

    @Override
    public Workload make(Options options) {
        long size = options.count("partsize");
        long rows = options.count("rows");
        Source part = Sources.of(Sources.uniform(0, options.count("partcount") - 1), String::valueOf);
        Source clust = Sources.of(Sources.uniform(0, options.count("main_partsize") - 1), String::valueOf);
        Source rowPart = Sources.of(Sources.row(rows), row -> String.valueOf(row / size));
        Source rowClust = Sources.of(Sources.row(rows), row -> String.valueOf(row % size));
        List<String> selects = new ArrayList<>();
        for (String columns : COLUMNS) {
            selects.add("SELECT " + columns + " FROM {keyspace}.tabular WHERE part = :part LIMIT :most");
        }
        Operation reads = Operation.named("reads")
                .share(Share.option("reads", options))
                .statements(Operation.Order.ONE_OF, selects)
                .fields(Sources.field("part", part), Sources.field("most", Sources.numbers(Sources.uniform(1, 10))))
                .build();
        Operation writes = Operation.named("writes")
                .share(Share.option("writes", options))
                .statements(WRITE)
                .fields(row(part, clust))
                .build();
        Operation populate =
                Operation.named("writes").statements(WRITE).fields(row(rowPart, rowClust)).build();
        Operation readBack = Operation.named("reads")
                .statements("SELECT part FROM {keyspace}.tabular WHERE part = :part AND clust = :clust")
                .fields(Sources.field("part", rowPart), Sources.field("clust", rowClust))
                .build();
        return new Workload(
                name(),
                List.of(new Command(TABLE, "table tabular")),
                List.of(reads, writes),
                Population.numbered(populate, rows, readBack));
    }

    private static List<Field> row(Source part, Source clust) {
        List<Field> fields = new ArrayList<>(List.of(Sources.field("part", part), Sources.field("clust", clust)));
        for (int column = 0; column < LENGTHS.length; column++) {
            Source text = Sources.letters(Sources.uniform(LENGTHS[column][0], LENGTHS[column][1]));
            fields.add(Sources.field("data" + column, text));
        }
        return fields;
    }
}
