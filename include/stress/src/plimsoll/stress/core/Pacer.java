package plimsoll.stress.core;

import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that gives its workers their steps: it parks till one of them has something to do, and those that became due
 * meanwhile follow at once. One thread serves many workers where the rate is low, since waking threads costs more CPU
 * than anything else that the generator does.
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

    /** Sends nothing more; what is in flight goes on. */
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
