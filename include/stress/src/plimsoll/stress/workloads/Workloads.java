package plimsoll.stress.workloads;

import java.util.ArrayList;
import java.util.List;
import plimsoll.stress.core.WorkloadType;

/** All workloads. */
public final class Workloads {
    public static final List<WorkloadType> ALL = all();

    private Workloads() {}

    private static List<WorkloadType> all() {
        List<WorkloadType> all = new ArrayList<>(List.of(
                new BasicTimeSeries(), new KeyValue(), new TimeSeries(), new Tabular(), new StandardRow()));
        all.addAll(Ycsb.core());
        all.addAll(List.of(new BatchedRows(), new OwnStatements()));
        return List.copyOf(all);
    }

    /**
     * Returns the workload with that name. Throws IllegalArgumentException, with the existing names, for an unknown
     * one.
     */
    public static WorkloadType named(String name) {
        for (WorkloadType type : ALL) {
            if (type.name().equals(name)) {
                return type;
            }
        }
        throw new IllegalArgumentException("no workload is called '" + name + "': there are " + names());
    }

    private static List<String> names() {
        List<String> names = new ArrayList<>();
        ALL.forEach(type -> names.add(type.name()));
        return names;
    }
}
