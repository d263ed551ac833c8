package plimsoll.stress.core;

import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that sleeps 10 ms at a time and records how much longer each sleep took. The machine or the JVM may have
 * delayed any operation by as much, without any fault of the database. After Gil Tene's jHiccup, at a tenth of its
 * rate, to save CPU time.
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
