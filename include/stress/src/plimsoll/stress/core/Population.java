package plimsoll.stress.core;

/** The rows that are written before the timed run. */
public final class Population {
    public final Operation write;
    /** How often rows are written: by all threads, or by each where they continue; 0 for none. */
    public final long rows;
    /**
     * Whether the timed run's writes continue where these end, as in tlp-stress, so that each thread has rows of its
     * own.
     */
    public final boolean continues;
    /** Reads a row by its number, which is the value of its only field; null if rows can't be verified in this way. */
    public final Operation readBack;

    private Population(Operation write, long rows, boolean continues, Operation readBack) {
        this.write = write;
        this.rows = rows;
        this.continues = continues;
        this.readBack = readBack;
    }

    /** Rows that each thread writes by one of the timed run's own operations, whose values continue from there. */
    public static Population continued(Operation write, long times) {
        return new Population(write, times, true, null);
    }

    /** Rows 0 to {@code rows} − 1, each once. */
    public static Population numbered(Operation write, long rows, Operation readBack) {
        return new Population(write, rows, false, readBack);
    }

    public static Population none() {
        return new Population(null, 0, false, null);
    }
}
