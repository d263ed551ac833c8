package plimsoll.stress.core;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.WriterReaderPhaser;

/**
 * The results of a load's threads, second by second from its start.
 *
 * <p>An operation belongs to the second in which it ended, by its own clock reading. So a reader that is late because
 * the machine is busy moves no operation to another second. Only what is recorded after its second was read is in the
 * next one to be read. Every answer is recorded twice: as service time from the send, and as response time from the
 * intended start. Failed operations are recorded separately, so their times never count as latencies of answers.
 */
final class Recording {
    /** One hour in microseconds; anything longer is recorded as one hour. */
    static final long HIGHEST = 3_600_000_000L;

    private static final long SECOND = 1_000_000_000L;
    /** The length of the ring, in seconds. One slot of it is the reader's, the others are of the seconds to be read. */
    private static final int SLOTS = 8;
    /** The greatest number of further seconds with results, while the reader is later than the ring is long. */
    private static final int MOST_BEHIND = 32;
    /** Stands for every second beyond those. */
    private static final long LOST = -1;
    /** The pause of a reader that waits for a thread which is just recording, in nanoseconds. */
    private static final long PATIENCE = 500_000L;

    final Remarks remarks = new Remarks();
    private final List<Operation> operations;
    private final Slot[] slots = new Slot[SLOTS];
    /** Seconds beyond the ring's. */
    private final Map<Long, Slot> beyond = new ConcurrentHashMap<>();
    /** Tells the reader when the threads that may still record in a second have done so. */
    private final WriterReaderPhaser recorders = new WriterReaderPhaser();
    private volatile long start;
    /** The first second that has not been taken. */
    private volatile long open;
    /** What was taken last. */
    private Slot taken;

    Recording(List<Operation> operations) {
        this.operations = operations;
        for (int i = 0; i < SLOTS; i++) {
            slots[i] = new Slot(operations);
        }
        taken = slots[SLOTS - 1];
    }

    /** Instants here and below are {@link System#nanoTime()}. */
    void startAt(long instant) {
        start = instant;
    }

    /** Records an operation that was answered with so many rows, or that wrote so many. */
    void completed(int operation, int rows, long intended, long sent, long now) {
        record(now, slot -> slot.completed(operation, rows, micros(now - intended), micros(now - sent)));
    }

    /** Records an operation that was sent and failed. */
    void failed(int operation, ErrorKind kind, long intended, long now) {
        record(now, slot -> {
            slot.failed(kind, micros(now - intended));
            slot.count(operation, kind);
        });
    }

    /** Records an operation that was never sent. */
    void dropped(int operation, ErrorKind kind, long now) {
        record(now, slot -> slot.count(operation, kind));
    }

    /** Records a send at {@code now} that the generator itself delayed by {@code lag} nanoseconds. */
    void sent(long lag, long now) {
        record(now, slot -> slot.lag(micros(lag)));
    }

    /** Returns the operations that ended in a second, counted from 0, in turn. It is valid until the next call. */
    Interval take(long second) {
        taken.reset();
        open = second + 1;
        awaitRecorders();
        taken = slots[(int) (second % SLOTS)];
        Interval interval = taken.read();
        Slot further = beyond.remove(second);
        if (further != null) {
            interval.add(further.read());
        }
        return interval;
    }

    /** Returns everything that has not been taken yet, of all seconds. Nothing can be taken afterwards. */
    Interval rest() {
        taken.reset();
        Interval rest = taken.read();
        for (Slot slot : slots) {
            if (slot != taken) {
                rest.add(slot.read());
            }
        }
        beyond.values().forEach(slot -> rest.add(slot.read()));
        return rest;
    }

    /** Returns whether the reader was so late that results could not be kept by their seconds. */
    boolean isOverrun() {
        return beyond.containsKey(LOST);
    }

    /** Returns an empty histogram for any response time. */
    static Histogram histogram() {
        return new Histogram(1, HIGHEST, 3);
    }

    private void record(long now, Consumer<Slot> result) {
        long entered = recorders.writerCriticalSectionEnter();
        try {
            result.accept(slot(now));
        } finally {
            recorders.writerCriticalSectionExit(entered);
        }
    }

    private Slot slot(long now) {
        long first = open;
        long second = Math.max(first, (now - start) / SECOND);
        return second - first < SLOTS - 1 ? slots[(int) (second % SLOTS)] : beyond(second);
    }

    private Slot beyond(long second) {
        Slot known = beyond.get(second);
        if (known != null) {
            return known;
        }
        return beyond.computeIfAbsent(beyond.size() < MOST_BEHIND ? second : LOST, absent -> new Slot(operations));
    }

    /** Returns when nobody records any more in a second before {@link #open}. */
    private void awaitRecorders() {
        recorders.readerLock();
        try {
            recorders.flipPhase(PATIENCE);
        } finally {
            recorders.readerUnlock();
        }
    }

    private static long micros(long nanos) {
        return Math.min(HIGHEST, Math.max(0, nanos / 1_000));
    }
}
