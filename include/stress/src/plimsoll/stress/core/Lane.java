package plimsoll.stress.core;

/** One of the client threads. */
public final class Lane {
    /**
     * The thread's number, from 0. Of a sequence, the thread takes this position and every {@code count}-th one after
     * it.
     */
    public final long index;
    /** The number of client threads. */
    public final long count;
    /** The thread's own seed, for sources with a random generator of their own. */
    public final long seed;

    public Lane(long index, long count, long seed) {
        this.index = index;
        this.count = count;
        this.seed = seed;
    }
}
