package plimsoll.stress.core;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * One client thread in tlp-stress' sense: a lane of the schedule, keys of its own, and a limit of operations in flight.
 * It does nothing by itself: a {@link Pacer}, which may serve several workers, runs its steps.
 */
final class Worker {
    private static final long RECHECK = 100_000_000L;
    private static final long FULL = Long.MIN_VALUE;
    /** The result of {@link #step()} when everything is sent. */
    static final long NEVER = Long.MAX_VALUE;

    private final Client client;
    private final Schedule.Lane lane;
    private final Traffic traffic;
    private final Recording recording;
    private final int concurrency;
    private final long backlogLimit;
    private final long size;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();
    /** The instant since which there has been room for another operation, or FULL. */
    private final AtomicLong room = new AtomicLong();
    /** Positions of the lane that were sent or given up; only the pacer writes it. */
    private volatile long started;

    private long start;
    /** In a closed loop: the earliest instant of the next send. */
    private long next;
    private Thread pacer;

    /** @param backlogLimit the greatest delay with which an operation is still sent, in nanoseconds */
    Worker(
            Client client,
            Schedule.Lane lane,
            Traffic traffic,
            Recording recording,
            int concurrency,
            long backlogLimit) {
        this.client = client;
        this.lane = lane;
        this.traffic = traffic;
        this.recording = recording;
        this.concurrency = concurrency;
        this.backlogLimit = backlogLimit;
        this.size = lane.size();
    }

    /** To be called before the first step; {@code instant} is the schedule's start as {@link System#nanoTime()}. */
    void startAt(long instant, Thread servedBy) {
        start = instant;
        next = instant + lane.intended(0);
        room.set(instant);
        pacer = servedBy;
    }

    /**
     * Does whatever is due now: at most one operation.
     *
     * @return the instant of the next step, which is past if that step is due already
     */
    long step() {
        long n = started;
        if (n >= size) {
            return NEVER;
        }
        long intended = lane.isClosed() ? next : start + lane.intended(n);
        long now = System.nanoTime();
        if (lane.isClosed() && now - start >= lane.end()) {
            return NEVER;
        }
        if (intended > now) {
            return intended;
        }
        if (lane.paced() && now - intended > backlogLimit) {
            recording.dropped(traffic.draw(), ErrorKind.OVERFLOW, now);
        } else if (inFlight.get() >= concurrency && isFull()) {
            return now + RECHECK;
        } else {
            send(intended, now);
        }
        started = n + 1;
        return now;
    }

    Client client() {
        return client;
    }

    long started() {
        return started;
    }

    int inFlight() {
        return inFlight.get();
    }

    /** Returns the greatest number of operations in flight since the last call. */
    int takePeak() {
        return Math.max(peak.getAndSet(0), inFlight.get());
    }

    /**
     * Records that there is no room, so that the next release wakes the pacer. Returns false if there is room by now.
     */
    private boolean isFull() {
        room.set(FULL);
        return inFlight.get() >= concurrency;
    }

    private void send(long intended, long now) {
        room.compareAndSet(FULL, now);
        recording.sent(lane.paced() ? now - Math.max(intended, room.get()) : 0, now);
        if (lane.isClosed()) {
            next = Math.max(intended + lane.gap(), now);
        }
        Traffic.Draw draw = traffic.next();
        Request request = new Request(this, recording, draw, lane.isClosed() ? now : intended, now);
        int underWay = inFlight.incrementAndGet();
        if (underWay > peak.get()) {
            peak.set(underWay);
        }
        try {
            client.send(draw.operation, draw.command, draw.rows, request);
        } catch (RuntimeException error) {
            request.ended(0, error);
        }
    }

    /** Called after an operation ended at the instant {@code now} and was recorded. */
    void release(long now) {
        inFlight.decrementAndGet();
        if (room.get() == FULL && room.compareAndSet(FULL, now)) {
            LockSupport.unpark(pacer);
        }
    }
}
