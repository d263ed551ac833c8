package plimsoll.stress;

import java.util.List;

/** All workers of one schedule. */
final class Load {
    private final Schedule schedule;
    private final List<Worker> workers;

    Load(Schedule schedule, List<Worker> workers) {
        this.schedule = schedule;
        this.workers = workers;
    }

    Schedule schedule() {
        return schedule;
    }

    /** Starts every worker; {@code instant} is the schedule's start as {@link System#nanoTime()}. */
    void startAt(long instant) {
        workers.forEach(worker -> worker.startAt(instant));
    }

    /** Sends nothing more; what is in flight goes on. */
    void halt() {
        workers.forEach(Worker::halt);
    }

    /** Whether everything was sent or given up, and answered. */
    boolean done() {
        return workers.stream().allMatch(Worker::done);
    }

    /** Operations that were sent and wait for an answer. */
    int inFlight() {
        return workers.stream().mapToInt(Worker::inFlight).sum();
    }

    /** The sum of the workers' peaks of operations in flight since the last call. */
    int takePeak() {
        return workers.stream().mapToInt(Worker::takePeak).sum();
    }

    /** Operations that are due {@code elapsed} nanoseconds after the start, but neither sent nor given up. */
    long backlog(long elapsed) {
        long started = workers.stream().mapToLong(Worker::started).sum();
        return Math.max(0, schedule.due(elapsed) - started);
    }
}
