package plimsoll.stress.core;

/**
 * The open-loop schedule: operation n is meant to start n / rate seconds after the start, whatever the database does.
 *
 * <p>Positions are arithmetic, so that a backlog of any length needs no memory. They are dealt out in turn to the
 * lanes (client threads), which makes the load of all of them evenly spaced; first among the generators that share the
 * schedule, if there are several, so that each has every so-manieth position. That response time must be counted from
 * such an intended start, not from the send, is Gil Tene's remedy for coordinated omission ("How NOT to Measure
 * Latency").
 */
final class Schedule {
    private static final long SECOND = 1_000_000_000L;

    private final long rate;
    private final long total;
    private final int lanes;
    private final Split split;

    /**
     * @param rate operations a second of all generators; 0: every operation is due at once
     * @param total operations of all generators
     * @param lanes number of this generator's threads
     * @param split which of the generators it is
     */
    Schedule(long rate, long total, int lanes, Split split) {
        this.rate = rate;
        this.total = total;
        this.lanes = lanes;
        this.split = split;
    }

    /** This generator's own, in operations a second. */
    double rate() {
        return (double) rate / split.count;
    }

    /** This generator's own operations. */
    long total() {
        return split.of(total);
    }

    Lane lane(int index) {
        return new Lane(index);
    }

    /** This generator's positions that are due within the first {@code elapsed} nanoseconds, one at that time included. */
    long due(long elapsed) {
        return split.of(dueOfAll(elapsed));
    }

    private long dueOfAll(long elapsed) {
        if (elapsed < 0) {
            return 0;
        }
        if (rate == 0) {
            return total;
        }
        long within = elapsed + 1;
        long fraction = (within % SECOND * rate + SECOND - 1) / SECOND;
        return Math.min(total, within / SECOND * rate + fraction);
    }

    /** The intended start of a position, in nanoseconds after the schedule's start, rounded down. */
    private long intended(long position) {
        return rate == 0 ? 0 : position / rate * SECOND + position % rate * SECOND / rate;
    }

    /** One thread's share: of this generator's positions number index, index + lanes, index + 2 × lanes, … */
    final class Lane {
        private final int index;

        private Lane(int index) {
            this.index = index;
        }

        /** Number of operations of this lane. */
        long size() {
            return share(total());
        }

        /** The intended start of this lane's operation {@code n}, in nanoseconds after the schedule's start. */
        long intended(long n) {
            return Schedule.this.intended(split.place(n * lanes + index));
        }

        /** Whether positions have a time at all: without one nothing can be late. */
        boolean paced() {
            return rate > 0;
        }

        private long share(long positions) {
            return positions <= index ? 0 : (positions - index + lanes - 1) / lanes;
        }
    }
}
