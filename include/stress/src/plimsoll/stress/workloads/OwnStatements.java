package plimsoll.stress.workloads;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import plimsoll.stress.core.Command;
import plimsoll.stress.core.Operation;
import plimsoll.stress.core.Option;
import plimsoll.stress.core.Options;
import plimsoll.stress.core.Population;
import plimsoll.stress.core.Share;
import plimsoll.stress.core.Workload;
import plimsoll.stress.core.WorkloadType;

/** The workload {@code cql}: tables and statements from the definition itself. */
final class OwnStatements implements WorkloadType {
    static final String LOGGED = "logged";
    /** The kinds of batches. */
    static final List<String> BATCHES = List.of(LOGGED, "unlogged");

    /** Names of operations: logs have the others for other things. */
    private static final Pattern NAME =
            Pattern.compile("(?!intended-|(?:all|errors|selects|mutations)$)[a-z][a-z0-9-]{0,39}");

    /** The keys of an operation. */
    static final List<Option> OPERATION = List.of(
            Option.text("name", null, "What logs, service levels and report call it: small letters, digits and dashes"),
            Option.number("share", null, 0, 1, "Share of all operations"),
            Option.text("statement", null, "A CQL statement with markers `:name`"),
            Option.nested("bind", Option.Type.BIND, "What stands for each marker").orNone(),
            Option.choice(
                            "consistency",
                            null,
                            List.of("ONE", "LOCAL_ONE", "TWO", "QUORUM", "LOCAL_QUORUM", "ALL"),
                            "Consistency level; by default the workload's")
                    .orNone(),
            Option.count("rows", 1L, 1, 10_000, "Rows of a batch; 1: no batch"),
            Option.choice("batch", "unlogged", BATCHES, "Whether a batch is carried out as a whole or not at all"),
            Option.bool("prepared", true, "false: sent as text with the values in it, a batch as one text"),
            Option.bool("first_page", false, "true: timed to the first page of the answer, 5,000 rows; else to its last"));

    /** The keys of {@code population}. */
    static final List<Option> POPULATE = List.of(
            Option.text("statement", null, "A CQL statement that writes one row"),
            Option.nested("bind", Option.Type.BIND, "What stands for each marker; `sequence` numbers the rows")
                    .orNone(),
            Option.text("read_back", null, "A SELECT of that row by markers that are sequences: a sample is read back")
                    .orNone());

    @Override
    public String name() {
        return "cql";
    }

    @Override
    public String about() {
        return "Your own tables and statements.";
    }

    @Override
    public List<Option> options() {
        return List.of(
                Option.nested("schema", Option.Type.STATEMENTS, "Statements that make the tables, if they are not there")
                        .orNone(),
                Option.nested("operations", Option.Type.OPERATIONS, "What clients ask"),
                Option.count("rows", 0L, 0, "Rows to populate"),
                Option.nested("population", Option.Type.POPULATE, "How a row is populated").orNone());
    }

    @Override
    public Workload make(Options options) {
        List<Operation> operations = new ArrayList<>();
        List<?> given = list(options.raw("operations"));
        for (int o = 0; o < given.size(); o++) {
            operations.add(operation(given.get(o), "workload.operations[" + o + "]"));
        }
        return new Workload(name(), schema(options.raw("schema")), operations, population(options));
    }

    private static List<Command> schema(Object given) {
        List<Command> schema = new ArrayList<>();
        List<?> statements = given == null ? List.of() : list(given);
        for (int s = 0; s < statements.size(); s++) {
            schema.add(new Command(String.valueOf(statements.get(s)), "workload.schema[" + s + "]"));
        }
        return schema;
    }

    private static Operation operation(Object given, String place) {
        Options options = options(place, OPERATION, given);
        String name = options.text("name");
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(place + ".name: '" + name + "' can't be an operation's name");
        }
        return Operation.named(name)
                .share(Share.of(options.number("share")))
                .command(new Command(options.text("statement"), place + " (" + name + ").statement"))
                .fields(Binds.read(options.raw("bind")))
                .rows(options.small("rows"))
                .logged(options.text("batch").equals(LOGGED))
                .prepared(options.truth("prepared"))
                .firstPage(options.truth("first_page"))
                .consistency(options.text("consistency"))
                .build();
    }

    private static Population population(Options options) {
        if (!options.has("population") || options.count("rows") == 0) {
            return Population.none();
        }
        Options population = options("workload.population", POPULATE, options.raw("population"));
        Operation readBack = population.has("read_back") ? ofRow(population, "reads", "read_back") : null;
        return Population.numbered(ofRow(population, "writes", "statement"), options.count("rows"), readBack);
    }

    /** Makes the operation on one populated row, with the statement in that option. */
    private static Operation ofRow(Options population, String name, String option) {
        return Operation.named(name)
                .command(new Command(population.text(option), "workload.population." + option))
                .fields(Binds.read(population.raw("bind")))
                .build();
    }

    @SuppressWarnings("unchecked")
    private static Options options(String place, List<Option> options, Object given) {
        return Options.of(place, options, (Map<String, Object>) Binds.mapping(given, place));
    }

    private static List<?> list(Object value) {
        return value instanceof List ? (List<?>) value : List.of(value);
    }
}
