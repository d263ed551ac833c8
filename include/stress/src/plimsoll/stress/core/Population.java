package plimsoll.stress.core;

/** What is written before the timed run. */
public final class Population {
    public final Operation write;
    /** Rows over all threads; 0: none. */
    public final long rows;
    /** Whether the writes go on where the timed run's begin, as tlp-stress' do, so that each thread has rows of its own. */
    public final boolean continues;
    /** Reads a row back by its number, which is the only field's value; null: can't be verified so. */
    public final Operation readBack;

    private Population(Operation write, long rows, boolean continues, Operation readBack) {
        this.write = write;
        this.rows = rows;
        this.continues = continues;
        this.readBack = readBack;
    }

    /** Rows written by one of the timed run's own operations, whose values go on from there. */
    public static Population continued(Operation write, long rows) {
        return new Population(write, rows, true, null);
    }

    /** Rows 0 to {@code rows} − 1, each once. */
    public static Population numbered(Operation write, long rows, Operation readBack) {
        return new Population(write, rows, false, readBack);
    }

    public static Population none() {
        return new Population(null, 0, false, null);
    }
}
