package plimsoll.stress.core;

/**
 * The open-loop schedule: operation n is intended to start n / rate seconds after the start, whatever the database
 * does.
 *
 * <p>Positions are computed, so a backlog of any length needs no memory. With several generators, generator i of k
 * takes the positions i, i + k, i + 2 × k, … Each generator assigns its positions in turn to its lanes (client
 * threads), so the load of every lane is evenly spaced. Counting response time from the intended start, not from the
 * send, is Gil Tene's remedy for coordinated omission ("How NOT to Measure Latency").
 */
final class Schedule {
    private static final long SECOND = 1_000_000_000L;

    private final long rate;
    private final long total;
    private final int lanes;
    private final Split split;
    private final boolean closed;

    /**
     * @param rate operations per second of all generators; 0: every operation is due at once
     * @param total number of operations of all generators
     * @param lanes number of this generator's threads
     * @param split this generator's share
     */
    Schedule(long rate, long total, int lanes, Split split) {
        this(rate, total, lanes, split, false);
    }

    private Schedule(long rate, long total, int lanes, Split split, boolean closed) {
        this.rate = rate;
        this.total = total;
        this.lanes = lanes;
        this.split = split;
        this.closed = closed;
    }

    /**
     * Returns the same as a closed loop, whose operations have no intended starts: each lane sends the next one when
     * there is room, at most at its part of the rate, and makes up for none that it could not send.
     */
    Schedule asClosedLoop() {
        return new Schedule(rate, total, lanes, split, true);
    }

    boolean isClosed() {
        return closed;
    }

    /** Returns this generator's own rate, in operations per second. */
    double rate() {
        return (double) rate / split.count;
    }

    /** Returns the number of this generator's own operations. */
    long total() {
        return split.of(total);
    }

    Lane lane(int index) {
        return new Lane(index);
    }

    /**
     * Returns the number of this generator's positions that are due at most {@code elapsed} nanoseconds after the
     * start.
     */
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

    /** One thread's share: this generator's positions index, index + lanes, index + 2 × lanes, … */
    final class Lane {
        private final int index;

        private Lane(int index) {
            this.index = index;
        }

        /** Returns the number of this lane's operations. */
        long size() {
            return share(total());
        }

        /** The intended start of this lane's operation {@code n}, in nanoseconds after the schedule's start. */
        long intended(long n) {
            return Schedule.this.intended(split.place(n * lanes + index));
        }

        /** Returns whether operations have intended starts. Without them, no operation can be late. */
        boolean paced() {
            return rate > 0 && !closed;
        }

        boolean isClosed() {
            return closed;
        }

        /** The least time from one send to the next in a closed loop, in nanoseconds. */
        long gap() {
            return SECOND * lanes * split.count / rate;
        }

        /** The end of a closed loop, in nanoseconds after its start. */
        long end() {
            return Schedule.this.intended(total);
        }

        private long share(long positions) {
            return positions <= index ? 0 : (positions - index + lanes - 1) / lanes;
        }
    }
}
