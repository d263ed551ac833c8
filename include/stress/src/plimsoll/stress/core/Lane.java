package plimsoll.stress.core;

/** One client thread among all. */
public final class Lane {
    /** From 0: the first position of a sequence that is this thread's; the next is {@code count} further on. */
    public final long index;
    /** How many there are. */
    public final long count;
    /** A number of its own, for a source that has its own randomness. */
    public final long seed;

    public Lane(long index, long count, long seed) {
        this.index = index;
        this.count = count;
        this.seed = seed;
    }
}
