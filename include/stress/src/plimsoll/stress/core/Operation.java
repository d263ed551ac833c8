package plimsoll.stress.core;

import java.util.ArrayList;
import java.util.List;

/** One kind of request of clients to the database, timed as a whole. */
public final class Operation {
    /** How an operation uses its commands. */
    public enum Order {
        /** Each time one of the commands, all of them equally often. */
        ONE_OF,
        /**
         * Each thread always uses the same command; commands are assigned to threads in turn. With several rows, as a
         * batch.
         */
        ONE_PER_THREAD,
        /** The first command and, after its answer, one of the others with the same values. */
        FIRST_THEN_ONE_OF
    }

    /**
     * The operation's name: {@code reads}, {@code writes}, {@code scans}, {@code read-modify-writes}, {@code batches}.
     */
    public final String name;
    /** The name in file names and JSON. It differs from {@code name} where other tools expect certain file names. */
    public final String label;
    /** The name of its group of columns in the CSV file. */
    public final String column;

    public final Share share;
    /** Whether the operation has files even if its share is 0. */
    final boolean keptIdle;
    public final Order order;
    public final List<Command> commands;
    public final List<Field> fields;
    /** Number of rows of a batch; 1 for operations that are no batches. */
    public final int rows;
    /** Whether a batch is logged: carried out as a whole or not at all. */
    public final boolean logged;
    /** Whether statements are prepared once; otherwise each is sent as text with its values in it. */
    public final boolean prepared;
    /** Whether an answer ends with its first page, instead of its last. */
    public final boolean firstPage;
    /** Consistency level; null for the one of the run. */
    public final String consistency;

    private Operation(Builder builder) {
        name = builder.name;
        label = builder.label;
        column = builder.column;
        share = builder.share;
        keptIdle = !builder.label.equals(builder.name);
        order = builder.order;
        commands = List.copyOf(builder.commands);
        fields = List.copyOf(builder.fields);
        rows = builder.rows;
        logged = builder.logged;
        prepared = builder.prepared;
        firstPage = builder.firstPage;
        consistency = builder.consistency;
    }

    public static Builder named(String name) {
        return new Builder(name);
    }

    /** The share in a form from which programs can compute it. */
    public Object describeShare() {
        return share.describe();
    }

    /** Returns what the operation sends with that command, in order. */
    public List<Command> sent(int command) {
        Command last = commands.get(command);
        return order == Order.FIRST_THEN_ONE_OF ? List.of(commands.get(0), last) : List.of(last);
    }

    /** Returns the statements of {@link #sent}. {@code {keyspace}} is left out: it is the run's own. */
    public List<String> statements(int command) {
        List<String> sent = new ArrayList<>();
        sent(command).forEach(one -> sent.add(one.statement.replace("{keyspace}.", "")));
        return sent;
    }

    @Override
    public String toString() {
        return name;
    }

    /** Builds an operation part by part. */
    public static final class Builder {
        private final String name;
        private String label;
        private String column;
        private Share share = Share.of(1);
        private Order order = Order.ONE_OF;
        private List<Command> commands = List.of();
        private List<Field> fields = List.of();
        private int rows = 1;
        private boolean logged;
        private boolean prepared = true;
        private boolean firstPage;
        private String consistency;

        private Builder(String name) {
            this.name = name;
            label = name;
            column = name;
        }

        /** Sets the names that tlp-stress uses, in its metrics and in its CSV file. */
        public Builder called(String inFiles, String inCsv) {
            label = inFiles;
            column = inCsv;
            return this;
        }

        public Builder share(Share value) {
            share = value;
            return this;
        }

        public Builder statements(String statement) {
            return statements(Order.ONE_OF, List.of(statement));
        }

        public Builder statements(Order how, List<String> statements) {
            List<Command> given = new ArrayList<>();
            statements.forEach(statement -> given.add(new Command(statement, null)));
            return commands(how, given);
        }

        public Builder commands(Command command) {
            return commands(Order.ONE_OF, List.of(command));
        }

        /** Sets the commands, whose places are those of this operation. */
        public Builder commands(Order how, List<Command> given) {
            order = how;
            String place = "operation " + name;
            commands = new ArrayList<>();
            for (int i = 0; i < given.size(); i++) {
                String at = given.size() == 1 ? place : place + ", statement " + i;
                commands.add(new Command(given.get(i).statement, at, given.get(i).access));
            }
            return this;
        }

        /** Sets the only command, with the place that it has. */
        public Builder command(Command command) {
            commands = List.of(command);
            return this;
        }

        /** Sets the number of rows that are written at once in a batch. */
        public Builder rows(int size) {
            rows = size;
            return this;
        }

        public Builder logged(boolean value) {
            logged = value;
            return this;
        }

        public Builder prepared(boolean value) {
            prepared = value;
            return this;
        }

        public Builder firstPage(boolean value) {
            firstPage = value;
            return this;
        }

        public Builder fields(Field... values) {
            return fields(List.of(values));
        }

        public Builder fields(List<Field> values) {
            fields = values;
            return this;
        }

        public Builder consistency(String level) {
            consistency = level;
            return this;
        }

        public Operation build() {
            return new Operation(this);
        }
    }
}
