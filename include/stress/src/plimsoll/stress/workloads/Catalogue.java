package plimsoll.stress.workloads;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import plimsoll.stress.core.Json;
import plimsoll.stress.core.Operation;
import plimsoll.stress.core.Option;
import plimsoll.stress.core.Options;
import plimsoll.stress.core.Workload;
import plimsoll.stress.core.WorkloadType;
import plimsoll.stress.core.distribution.Distributions;

/** All workloads with their options and operations, for programs that check definitions. */
public final class Catalogue {
    private static final int FORMAT = 1;

    private Catalogue() {}

    public static Map<String, Object> describe() {
        List<Object> workloads = new ArrayList<>();
        Workloads.ALL.forEach(type -> workloads.add(describe(type)));
        return Json.object(
                "format", FORMAT,
                "workloads", workloads,
                "distributions", distributions(),
                "bind", options(Binds.OPTIONS),
                "operation", options(OwnStatements.OPERATION),
                "populate", options(OwnStatements.POPULATE));
    }

    private static List<Object> distributions() {
        List<Object> distributions = new ArrayList<>();
        for (Distributions.Kind kind : Distributions.ALL) {
            distributions.add(
                    Json.object("name", kind.name, "doc", kind.about, "parameters", options(kind.parameters)));
        }
        distributions.add(Json.object(
                "name", Binds.NOW, "doc", "The time at which the statement is made", "parameters", List.of()));
        return distributions;
    }

    private static Map<String, Object> describe(WorkloadType type) {
        return Json.object(
                "name", type.name(),
                "doc", type.about(),
                "protocols", protocols(type),
                "options", options(type.options()),
                "operations", operations(type));
    }

    private static List<Object> options(List<Option> options) {
        List<Object> described = new ArrayList<>();
        options.forEach(option -> described.add(option.describe()));
        return described;
    }

    /** Returns the protocols in which clients can ask for it: all where it consists of accesses by key. */
    private static List<String> protocols(WorkloadType type) {
        return !definesOperations(type) && made(type).isByKey() ? List.of("cql", "hbase") : List.of("cql");
    }

    private static boolean definesOperations(WorkloadType type) {
        return type.options().stream().anyMatch(option -> option.type == Option.Type.OPERATIONS);
    }

    private static Workload made(WorkloadType type) {
        return type.make(Options.of(type.name(), type.options(), Map.of()));
    }

    /** Returns the operations with default options; none where the options define the operations. */
    private static List<Object> operations(WorkloadType type) {
        List<Object> operations = new ArrayList<>();
        if (definesOperations(type)) {
            return operations;
        }
        for (Operation operation : made(type).operations) {
            operations.add(
                    Json.object("name", operation.name, "label", operation.label, "share", operation.describeShare()));
        }
        return operations;
    }
}
