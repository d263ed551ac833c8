package plimsoll.stress.core;

import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that runs the steps of its workers. It parks until a worker has something to do, and runs all steps that are
 * due. At low rates one thread serves many workers, because waking threads costs more CPU than anything else in the
 * generator.
 */
final class Pacer extends Thread {
    private static final long LONGEST_PARK = 100_000_000L;

    private final List<Worker> workers;
    private volatile boolean halted;

    Pacer(int number, List<Worker> workers) {
        super("pacer-" + number);
        this.workers = workers;
    }

    /** Starts the thread; {@code instant} is the schedule's start as {@link System#nanoTime()}. */
    void startAt(long instant) {
        workers.forEach(worker -> worker.startAt(instant, this));
        start();
    }

    /** Stops sending. Operations in flight continue. */
    void halt() {
        halted = true;
        LockSupport.unpark(this);
    }

    @Override
    public void run() {
        while (!halted) {
            long next = Worker.NEVER;
            for (Worker worker : workers) {
                next = Math.min(next, worker.step());
            }
            if (next == Worker.NEVER) {
                return;
            }
            long wait = next - System.nanoTime();
            if (wait > 0) {
                LockSupport.parkNanos(this, Math.min(wait, LONGEST_PARK));
            }
        }
    }
}
