package plimsoll.stress.core;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The request to end early. Only the first reason is kept. */
public final class Stop {
    private final CountDownLatch requested = new CountDownLatch(1);
    private volatile StressException reason;

    public synchronized void request(ExitCode exitCode, String why) {
        if (reason == null) {
            reason = new StressException(exitCode, why);
            requested.countDown();
        }
    }

    /** Returns the reason to end early, or null. */
    StressException reason() {
        return reason;
    }

    /** Waits, at most till an instant given as {@link System#nanoTime()}. */
    void awaitUntil(long instant) {
        try {
            requested.await(instant - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException error) {
            request(ExitCode.INCOMPLETE, "interrupted");
        }
    }
}
