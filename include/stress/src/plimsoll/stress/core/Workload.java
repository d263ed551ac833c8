package plimsoll.stress.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A workload with the values of its options: its tables and operations. */
public final class Workload {
    public final String name;
    /** Statements that create missing tables; {@code {keyspace}} stands for the keyspace. */
    public final List<Command> schema;

    public final List<Operation> operations;
    public final Population population;
    private final double[] shares;

    public Workload(String name, List<Command> schema, List<Operation> operations, Population population) {
        this.name = name;
        this.schema = List.copyOf(schema);
        this.operations = List.copyOf(operations);
        this.population = population;
        this.shares = shares(operations);
    }

    /** Returns the workload without operations that have no share, except those whose files other tools expect. */
    public Workload active() {
        List<Operation> kept = new ArrayList<>();
        for (int o = 0; o < shares.length; o++) {
            if (shares[o] > 0 || operations.get(o).keptIdle) {
                kept.add(operations.get(o));
            }
        }
        return new Workload(name, schema, kept, population);
    }

    /** Returns the operations of the timed run, and those that populate and read back. */
    public List<Operation> everyOperation() {
        List<Operation> all = new ArrayList<>(operations);
        if (population.write != null) {
            all.add(population.write);
        }
        if (population.readBack != null) {
            all.add(population.readBack);
        }
        return all;
    }

    /** Returns whether every command is an access by key, which protocols other than CQL can say too. */
    public boolean isByKey() {
        return everyOperation().stream()
                .flatMap(operation -> operation.commands.stream())
                .allMatch(command -> command.access != null);
    }

    /** Returns the share of each operation, in order. The shares add up to 1. */
    public double[] shares() {
        return shares.clone();
    }

    /** Returns the shares by the operations' labels. */
    Map<String, Object> sharesByLabel() {
        Map<String, Object> byLabel = Json.object();
        for (int o = 0; o < shares.length; o++) {
            byLabel.put(operations.get(o).label, shares[o]);
        }
        return byLabel;
    }

    private static double[] shares(List<Operation> operations) {
        double told = 0;
        boolean rest = false;
        for (Operation operation : operations) {
            rest |= operation.share.isRest();
            told += operation.share.isRest() ? 0 : operation.share.weight;
        }
        if (!rest && !operations.isEmpty() && !(told > 0)) {
            throw new IllegalArgumentException("no operation has a share above 0");
        }
        double[] shares = new double[operations.size()];
        for (int o = 0; o < shares.length; o++) {
            Share share = operations.get(o).share;
            shares[o] = share.isRest() ? 1 - told : rest ? share.weight : share.weight / told;
        }
        return shares;
    }
}
