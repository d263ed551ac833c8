package plimsoll.stress.core;

import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * The results of a load's threads, second by second from its start.
 *
 * <p>An operation belongs to the second in which it ended, by its own clock reading. So a reader that is late because
 * the machine is busy moves no operation to another second. Every answer is recorded twice: as service time from the
 * send, and as response time from the intended start. Failed operations are recorded separately, so their times never
 * count as latencies of answers.
 */
final class Recording {
    /** One hour in microseconds; anything longer is recorded as one hour. */
    static final long HIGHEST = 3_600_000_000L;

    private static final long SECOND = 1_000_000_000L;
    /**
     * The length of the ring, in seconds. A second is read shortly after its end, so the ring must only cover the
     * greatest delay of the reader.
     */
    private static final int SLOTS = 8;

    final Remarks remarks = new Remarks();
    private final Slot[] slots = new Slot[SLOTS];
    private volatile long start;

    Recording(List<Operation> operations) {
        for (int i = 0; i < SLOTS; i++) {
            slots[i] = new Slot(operations);
        }
    }

    /** Instants here and below are {@link System#nanoTime()}. */
    void startAt(long instant) {
        start = instant;
    }

    /** Records an operation that was answered with so many rows, or that wrote so many. */
    void completed(int operation, int rows, long intended, long sent, long now) {
        slot(now).completed(operation, rows, micros(now - intended), micros(now - sent));
    }

    /** Records an operation that was sent and failed. */
    void failed(int operation, ErrorKind kind, long intended, long now) {
        Slot slot = slot(now);
        slot.failed(kind, micros(now - intended));
        slot.count(operation, kind);
    }

    /** Records an operation that was never sent. */
    void dropped(int operation, ErrorKind kind, long now) {
        slot(now).count(operation, kind);
    }

    /** Records a send at {@code now} that the generator itself delayed by {@code lag} nanoseconds. */
    void sent(long lag, long now) {
        slot(now).lag(micros(lag));
    }

    /** Returns the operations that ended in a second, counted from 0. The result is valid until the next call. */
    Interval take(long second) {
        return slots[(int) (second % SLOTS)].take();
    }

    /** Returns everything that has not been taken yet, of all seconds. */
    Interval rest() {
        Interval rest = slots[0].take();
        for (int i = 1; i < SLOTS; i++) {
            rest.add(slots[i].take());
        }
        return rest;
    }

    /** Returns an empty histogram for any response time. */
    static Histogram histogram() {
        return new Histogram(1, HIGHEST, 3);
    }

    private Slot slot(long now) {
        return slots[(int) ((now - start) / SECOND % SLOTS)];
    }

    private static long micros(long nanos) {
        return Math.min(HIGHEST, Math.max(0, nanos / 1_000));
    }
}
