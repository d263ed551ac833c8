package plimsoll.stress.workloads;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

/** One of YCSB's core workloads, with YCSB's names of parameters and the table of its binding for Cassandra. */
final class Ycsb implements WorkloadType {
    private final String letter;
    private final String about;
    private final Map<String, Double> proportions;
    private final String requests;

    /** @param proportions the proportions that are not 0, by operation */
    private Ycsb(String letter, String about, Map<String, Double> proportions, String requests) {
        this.letter = letter;
        this.about = about;
        this.proportions = proportions;
        this.requests = requests;
    }

    /** Returns the workloads A to F. */
    static List<WorkloadType> core() {
        return List.of(
                new Ycsb("A", "half reads, half updates", Map.of("read", 0.5, "update", 0.5), "zipfian"),
                new Ycsb("B", "95 % reads, 5 % updates", Map.of("read", 0.95, "update", 0.05), "zipfian"),
                new Ycsb("C", "reads only", Map.of("read", 1.0), "zipfian"),
                new Ycsb(
                        "D", "95 % reads of the latest rows, 5 % inserts", Map.of("read", 0.95, "insert", 0.05), "latest"),
                new Ycsb("E", "95 % scans, 5 % inserts", Map.of("scan", 0.95, "insert", 0.05), "zipfian"),
                new Ycsb(
                        "F",
                        "half reads, half read-modify-writes",
                        Map.of("read", 0.5, "readmodifywrite", 0.5),
                        "zipfian"));
    }

    @Override
    public String name() {
        return "Ycsb" + letter;
    }

    @Override
    public String about() {
        return "YCSB's core workload " + letter + ": " + about + ".";
    }

    @Override
    public List<Option> options() {
        List<Option> options = new ArrayList<>(List.of(
                Option.count("recordcount", 1000L, 1, "Rows to populate"),
                Option.count("fieldcount", 10L, 1, 1000, "Fields of a row"),
                Option.count("fieldlength", 100L, 1, 1_000_000, "Length of a field, or its greatest length"),
                Option.count("minfieldlength", 1L, 1, 1_000_000, "Least length of a field"),
                Option.choice(
                        "fieldlengthdistribution",
                        "constant",
                        List.of("constant", "uniform", "zipfian"),
                        "How lengths of fields are drawn"),
                Option.bool("readallfields", true, "Whether a read asks for all fields, or for one"),
                Option.bool("writeallfields", false, "Whether an update writes all fields, or one"),
                Option.choice("insertorder", "hashed", List.of("hashed", "ordered"), "Whether keys are hashed numbers")));
        for (String operation : List.of("read", "update", "insert", "scan", "readmodifywrite")) {
            double proportion = proportions.getOrDefault(operation, 0.0);
            options.add(Option.number(operation + "proportion", proportion, 0, 1, "Weight of such operations"));
        }
        options.addAll(YcsbKeys.options(requests));
        options.addAll(List.of(
                Option.count("minscanlength", 1L, 1, 100_000, "Least number of rows of a scan"),
                Option.count("maxscanlength", 100L, 1, 100_000, "Greatest number of rows of a scan"),
                Option.choice(
                        "scanlengthdistribution",
                        "uniform",
                        List.of("uniform", "zipfian"),
                        "How lengths of scans are drawn")));
        return options;
    }

    @Override
    public Workload make(Options options) {
        YcsbKeys keys = new YcsbKeys(options);
        YcsbRow row = new YcsbRow(options);
        Field asked = Sources.field("key", keys.requested());
        List<Command> updates = row.updates();
        List<Operation> operations = List.of(
                operation("reads", "read", row.reads(), List.of(asked), options),
                operation("updates", "update", updates, row.written(asked), options),
                operation(
                        "inserts",
                        "insert",
                        List.of(row.table.insert()),
                        row.written(Sources.field("key", keys.inserted())),
                        options),
                operation(
                        "scans",
                        "scan",
                        List.of(row.table.scan("length")),
                        List.of(asked, Sources.field("length", lengths(options))),
                        options),
                modify(row, updates, asked, options));
        Source numbered = Sources.of(Sources.row(options.count("recordcount")), keys::key);
        Operation populate = Operation.named("inserts")
                .commands(row.table.insert())
                .fields(row.written(Sources.field("key", numbered)))
                .build();
        Operation readBack = Operation.named("reads")
                .commands(row.table.readKey())
                .fields(Sources.field("key", numbered))
                .build();
        return new Workload(
                name(),
                List.of(row.table.schema()),
                operations,
                Population.numbered(populate, options.count("recordcount"), readBack));
    }

    private static Operation operation(
            String name, String proportion, List<Command> commands, List<Field> fields, Options options) {
        return Operation.named(name)
                .share(Share.option(proportion + "proportion", options))
                .commands(Operation.Order.ONE_OF, commands)
                .fields(fields)
                .build();
    }

    private static Operation modify(YcsbRow row, List<Command> updates, Field asked, Options options) {
        List<Command> commands = new ArrayList<>(List.of(row.table.read()));
        commands.addAll(updates);
        return Operation.named("read-modify-writes")
                .share(Share.option("readmodifywriteproportion", options))
                .commands(Operation.Order.FIRST_THEN_ONE_OF, commands)
                .fields(row.written(asked))
                .build();
    }

    private static Source lengths(Options options) {
        Distribution lengths = YcsbRow.lengths(
                options.text("scanlengthdistribution"),
                options.count("minscanlength"),
                options.count("maxscanlength"));
        return Sources.numbers(lengths);
    }
}
