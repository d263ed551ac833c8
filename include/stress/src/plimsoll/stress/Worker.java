package plimsoll.stress;

import com.datastax.oss.driver.api.core.CqlSession;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * One thread of the load: sends its lane's operations at their intended starts, never more than {@code concurrency} of
 * them at a time. It parks till the next one is due; those that became due meanwhile follow at once.
 */
final class Worker extends Thread {
    private static final long LONGEST_PARK = 100_000_000L;
    private static final long FULL = Long.MIN_VALUE;

    private final CqlSession session;
    private final Schedule.Lane lane;
    private final Traffic traffic;
    private final Recording recording;
    private final int concurrency;
    private final long backlogLimit;
    private final AtomicInteger inFlight = new AtomicInteger();
    /** The instant since which there has been room for another operation, or FULL. */
    private final AtomicLong room = new AtomicLong();
    private final AtomicInteger peak = new AtomicInteger();
    private volatile long started;
    private volatile boolean halted;
    private long start;

    /** @param backlogLimit how late an operation may be sent, in nanoseconds */
    Worker(
            CqlSession session,
            Schedule.Lane lane,
            Traffic traffic,
            Recording recording,
            int concurrency,
            long backlogLimit) {
        super("worker-" + lane.index());
        this.session = session;
        this.lane = lane;
        this.traffic = traffic;
        this.recording = recording;
        this.concurrency = concurrency;
        this.backlogLimit = backlogLimit;
    }

    /** Starts the thread; {@code instant} is the schedule's start as {@link System#nanoTime()}. */
    void startAt(long instant) {
        start = instant;
        room.set(instant);
        start();
    }

    /** Sends nothing more; what is in flight goes on. */
    void halt() {
        halted = true;
        LockSupport.unpark(this);
    }

    /** Positions of the lane that were sent or given up. */
    long started() {
        return started;
    }

    int inFlight() {
        return inFlight.get();
    }

    /** Most operations in flight since the last call. */
    int takePeak() {
        return Math.max(peak.getAndSet(0), inFlight.get());
    }

    /** Whether nothing more can happen. */
    boolean done() {
        return !isAlive() && inFlight.get() == 0;
    }

    @Override
    public void run() {
        for (long n = 0; n < lane.size() && !halted; n = started) {
            long intended = start + lane.intended(n);
            long now = System.nanoTime();
            if (intended > now) {
                LockSupport.parkNanos(this, Math.min(intended - now, LONGEST_PARK));
            } else if (lane.paced() && now - intended > backlogLimit) {
                recording.dropped(traffic.draw(), ErrorKind.OVERFLOW, now);
                started = n + 1;
            } else if (inFlight.get() >= concurrency) {
                awaitRoom();
            } else {
                send(intended, now);
                started = n + 1;
            }
        }
    }

    private void send(long intended, long now) {
        room.compareAndSet(FULL, now);
        recording.sent(lane.paced() ? now - Math.max(intended, room.get()) : 0, now);
        Operation operation = traffic.draw();
        Request request = new Request(this, recording, operation, intended, now);
        int underWay = inFlight.incrementAndGet();
        if (underWay > peak.get()) {
            peak.set(underWay);
        }
        try {
            session.executeAsync(traffic.statement(operation)).whenComplete(request);
        } catch (RuntimeException error) {
            request.accept(null, error);
        }
    }

    private void awaitRoom() {
        room.set(FULL);
        if (inFlight.get() >= concurrency) {
            LockSupport.parkNanos(this, LONGEST_PARK);
        }
    }

    /** An operation ended at the instant {@code now}, and that was recorded. */
    void release(long now) {
        inFlight.decrementAndGet();
        if (room.get() == FULL && room.compareAndSet(FULL, now)) {
            LockSupport.unpark(this);
        }
    }
}
