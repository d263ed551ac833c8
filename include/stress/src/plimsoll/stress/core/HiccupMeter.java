package plimsoll.stress.core;

import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that wants to sleep 10 ms at a time and notes how much longer it slept: by so much any operation may have
 * been held up without the database's doing. After Gil Tene's jHiccup, at a tenth of its rate to cost no CPU.
 */
final class HiccupMeter extends Thread implements AutoCloseable {
    private static final long NAP = 10_000_000L;

    private final LongAccumulator maximum = new LongAccumulator(Math::max, 0);
    private volatile boolean closed;

    HiccupMeter() {
        super("hiccup-meter");
        setDaemon(true);
    }

    @Override
    public void run() {
        while (!closed) {
            long before = System.nanoTime();
            LockSupport.parkNanos(NAP);
            maximum.accumulate(System.nanoTime() - before - NAP);
        }
    }

    /** The longest hiccup since the last call, in nanoseconds. */
    long takeMaximum() {
        return maximum.getThenReset();
    }

    @Override
    public void close() {
        closed = true;
    }
}
