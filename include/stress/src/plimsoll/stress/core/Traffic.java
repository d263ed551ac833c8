package plimsoll.stress.core;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** One thread's stream of operations with their values. The same seed gives the same stream. */
public final class Traffic {
    private final List<Operation> operations;
    /** The chance, by operation, that the next operation is this or a later one. */
    private final double[] orLater;

    private final Values[][] values;
    private final Lane lane;
    private final Map<Source, Values> opened;
    private final SplittableRandom random;

    private Traffic(
            List<Operation> operations,
            double[] shares,
            Lane lane,
            Map<Source, Values> opened,
            SplittableRandom random) {
        this.operations = operations;
        this.lane = lane;
        this.opened = opened;
        this.random = random;
        orLater = new double[shares.length];
        double sum = 0;
        for (int o = shares.length - 1; o > 0; o--) {
            sum += shares[o];
            orLater[o] = sum;
        }
        values = new Values[operations.size()][];
        for (int o = 0; o < values.length; o++) {
            List<Field> fields = operations.get(o).fields;
            values[o] = new Values[fields.size()];
            for (int f = 0; f < fields.size(); f++) {
                values[o][f] = opened.computeIfAbsent(fields.get(f).source, source -> source.open(lane));
            }
        }
    }

    /**
     * Returns the streams of that many threads, which write this generator's part of a workload's numbered rows, each
     * row once.
     */
    static List<Traffic> populating(Workload workload, int threads, Split split, long seed) {
        Operation write = workload.population.write;
        return of(new Workload(workload.name, workload.schema, List.of(write), Population.none()), threads, split, ~seed);
    }

    /** Returns the values with which an operation reads or writes one numbered row. */
    static Object[][] ofRow(Operation operation, long row) {
        Traffic traffic = new Traffic(
                List.of(operation), new double[] {1}, new Lane(row, 1, 0), new IdentityHashMap<>(), new SplittableRandom(0));
        return traffic.values(0);
    }

    /**
     * Returns the streams of this generator's threads. Several generators have the streams that one generator with all
     * threads would have.
     */
    public static List<Traffic> of(Workload workload, int threads, Split split, long seed) {
        List<Traffic> traffic = new ArrayList<>();
        SplittableRandom seeds = new SplittableRandom(seed);
        long all = (long) threads * split.count;
        for (long thread = 0; thread < all; thread++) {
            Lane lane = new Lane(thread, all, seeds.nextLong());
            SplittableRandom own = seeds.split();
            if (thread % split.count == split.index) {
                traffic.add(new Traffic(
                        workload.operations, workload.shares(), lane, new IdentityHashMap<>(), own));
            }
        }
        return traffic;
    }

    /**
     * Returns the same stream with only this operation, on the same values: this stream continues where the returned
     * one ends.
     */
    public Traffic only(Operation operation) {
        return new Traffic(List.of(operation), new double[] {1}, lane, opened, random);
    }

    /** Draws what the schedule's next position sends. */
    public Draw next() {
        int index = draw();
        Operation operation = operations.get(index);
        return new Draw(index, operation, command(operation), values(index));
    }

    /** Draws only the operation of the schedule's next position, which is not sent. */
    int draw() {
        double number = random.nextDouble();
        int operation = orLater.length - 1;
        while (operation > 0 && number >= orLater[operation]) {
            operation--;
        }
        return operation;
    }

    /** Returns the index of an operation's next command. */
    private int command(Operation operation) {
        int commands = operation.commands.size();
        if (commands == 1) {
            return 0;
        }
        switch (operation.order) {
            case ONE_OF:
                return random.nextInt(commands);
            case ONE_PER_THREAD:
                return (int) (lane.index % commands);
            default:
                return 1 + random.nextInt(commands - 1);
        }
    }

    /** Returns the next values of an operation's fields, row by row. */
    Object[][] values(int index) {
        Values[] fields = values[index];
        Object[][] rows = new Object[operations.get(index).rows][fields.length];
        for (Object[] row : rows) {
            for (int f = 0; f < fields.length; f++) {
                row[f] = fields[f].next(random);
            }
        }
        return rows;
    }

    /** One drawn operation, with its command and its values, row by row. */
    public static final class Draw {
        /** The operation's place among those of the stream. */
        final int index;
        public final Operation operation;
        public final int command;
        public final Object[][] rows;

        private Draw(int index, Operation operation, int command, Object[][] rows) {
            this.index = index;
            this.operation = operation;
            this.command = command;
            this.rows = rows;
        }
    }
}
