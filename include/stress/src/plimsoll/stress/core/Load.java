package plimsoll.stress.core;

import java.util.ArrayList;
import java.util.List;

/** All workers of one schedule, and the threads that serve them. */
final class Load {
    /** The rate that one thread can send without being late, in ops/s. */
    private static final long RATE_OF_A_PACER = 10_000;

    private final Schedule schedule;
    private final List<Worker> workers;
    private final List<Pacer> pacers = new ArrayList<>();

    Load(Schedule schedule, List<Worker> workers) {
        this.schedule = schedule;
        this.workers = workers;
        int count = threads(schedule.isClosed() ? 0 : schedule.rate(), workers.size());
        for (int p = 0; p < count; p++) {
            List<Worker> served = new ArrayList<>();
            for (int w = p; w < workers.size(); w += count) {
                served.add(workers.get(w));
            }
            pacers.add(new Pacer(p, served));
        }
    }

    private static int threads(double rate, int workers) {
        long needed = rate == 0
                ? Runtime.getRuntime().availableProcessors()
                : (long) Math.ceil(rate / RATE_OF_A_PACER);
        return (int) Math.min(workers, needed);
    }

    Schedule schedule() {
        return schedule;
    }

    /** Starts sending; {@code instant} is the schedule's start as {@link System#nanoTime()}. */
    void startAt(long instant, Thread.UncaughtExceptionHandler onDeath) {
        for (Pacer pacer : pacers) {
            pacer.setUncaughtExceptionHandler(onDeath);
            pacer.startAt(instant);
        }
    }

    /** Stops sending. Operations in flight continue. */
    void halt() {
        pacers.forEach(Pacer::halt);
    }

    /** Returns whether every operation was answered, failed or given up. */
    boolean done() {
        return pacers.stream().noneMatch(Thread::isAlive) && inFlight() == 0;
    }

    /** Returns the number of operations that were sent and wait for an answer. */
    int inFlight() {
        return workers.stream().mapToInt(Worker::inFlight).sum();
    }

    /** The sum of the workers' peaks of operations in flight since the last call. */
    int takePeak() {
        return workers.stream().mapToInt(Worker::takePeak).sum();
    }

    /**
     * Returns the number of operations that are due {@code elapsed} nanoseconds after the start, but neither sent nor
     * given up.
     */
    long backlog(long elapsed) {
        return Math.max(0, due(elapsed) - started());
    }

    /** Returns the number of operations that were due; in a closed loop, of those that were sent. */
    long due(long elapsed) {
        return schedule.isClosed() ? started() : schedule.due(elapsed);
    }

    /** Returns whether nothing more is sent, and so many ends are all that there will be. */
    boolean isComplete(long ended) {
        return schedule.isClosed() ? done() && ended >= started() : ended >= schedule.total();
    }

    private long started() {
        return workers.stream().mapToLong(Worker::started).sum();
    }
}
