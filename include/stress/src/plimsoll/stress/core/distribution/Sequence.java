package plimsoll.stress.core.distribution;

import plimsoll.stress.core.Lane;

/** Counts through a range and begins again at its end. Threads take turns, so that together they leave out no number. */
public final class Sequence implements Distribution {
    private final long first;
    private final long size;

    public Sequence(long first, long last) {
        this.first = first;
        this.size = last - first + 1;
    }

    @Override
    public Numbers open(Lane lane) {
        long[] next = {lane.index};
        return random -> {
            long number = first + next[0] % size;
            next[0] += lane.count;
            return number;
        };
    }
}
