package plimsoll.stress.core;

import java.io.IOException;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Runs a load from its start to its last answer, and passes every second of it to the sinks.
 *
 * <p>Observations end on whole seconds from the start, and none is left out, however late this thread wakes. Only the
 * last one may be shorter: it ends with the last answer.
 */
final class Stage {
    private static final long SECOND = 1_000_000_000L;
    /**
     * The time, in nanoseconds, from the end of a second until it is read. Threads that read the clock within that
     * second have recorded their results by then.
     */
    private static final long SETTLE = 10_000_000L;

    private static final long GLANCE = 5_000_000L;
    private static final String OVERRUN =
            "the results of so many seconds wait to be written that no more can be kept: look whether the disk of the "
                    + "load host is full or slow, or the host itself has stood still";

    /** Lengths in seconds. */
    static final class Plan {
        final Phase first;
        final long warmup;
        final long duration;
        final long drain;

        private Plan(Phase first, long warmup, long duration, long drain) {
            this.first = first;
            this.warmup = warmup;
            this.duration = duration;
            this.drain = drain;
        }

        /** A plan that ends as soon as everything is done. */
        static Plan untilDone() {
            return new Plan(Phase.POPULATE, 0, 0, Long.MAX_VALUE / SECOND);
        }

        /** A plan that lasts {@code duration}, and at most {@code drain} longer for missing answers. */
        static Plan timed(long warmup, long duration, long drain) {
            return new Plan(Phase.WARMUP, warmup, duration, drain);
        }

        boolean isTimed() {
            return first != Phase.POPULATE;
        }

        private Phase phase(long second) {
            if (!isTimed()) {
                return first;
            }
            return second < warmup ? Phase.WARMUP : second < duration ? Phase.MEASURE : Phase.DRAIN;
        }
    }

    private final Load load;
    private final Recording recording;
    private final Plan plan;
    private final long giveUp;
    private final Vitals vitals;
    private final Stop stop;
    private final BooleanSupplier isOver;
    private final List<Sink> sinks;
    private long start;
    private long accounted;
    private long lastAnswer;

    /**
     * @param giveUp seconds without any answer after which the database counts as lost; 0: never
     * @param isOver whether the stage need not or must not go on; then it ends, and nobody waits for missing answers
     */
    Stage(
            Load load,
            Recording recording,
            Plan plan,
            long giveUp,
            Vitals vitals,
            Stop stop,
            BooleanSupplier isOver,
            List<Sink> sinks) {
        this.load = load;
        this.recording = recording;
        this.plan = plan;
        this.giveUp = giveUp;
        this.vitals = vitals;
        this.stop = stop;
        this.isOver = isOver;
        this.sinks = sinks;
    }

    /**
     * Runs the load; {@code instant} is its start as {@link System#nanoTime()}.
     *
     * @return operations that were due, but had neither been answered nor failed at the end
     * @throws IOException if a sink cannot write; nothing more is sent then
     */
    long run(long instant) throws IOException {
        start = instant;
        recording.startAt(instant);
        load.startAt(
                instant, (dead, error) -> stop.request(ExitCode.INTERNAL, dead.getName() + " died of " + error));
        try {
            for (long second = 0; !ended(second); second++) {
                observe(second);
            }
        } finally {
            load.halt();
        }
        return Math.max(0, load.due(System.nanoTime() - start) - accounted);
    }

    private boolean ended(long second) {
        boolean complete = second >= plan.duration && load.isComplete(accounted);
        return complete || isOver.getAsBoolean() || stop.reason() != null || second >= plan.duration + plan.drain;
    }

    private void observe(long second) throws IOException {
        boolean last = awaitEnd(second);
        Interval interval = last ? recording.rest() : recording.take(second);
        if (recording.isOverrun()) {
            stop.request(ExitCode.INCOMPLETE, OVERRUN);
        }
        long elapsed = System.nanoTime() - start;
        accounted += interval.completed() + interval.failures();
        watch(second, interval);
        Observation observation = new Observation(
                plan.phase(second),
                second,
                Math.min(second + 1, Math.max(elapsed / 1e9, second + 0.001)),
                planned(elapsed / 1e9),
                load.schedule().isClosed() ? 0 : load.schedule().rate(),
                interval,
                load.inFlight(),
                load.takePeak(),
                load.backlog(elapsed),
                vitals.sample(),
                recording.remarks.fresh());
        for (Sink sink : sinks) {
            sink.accept(observation);
        }
    }

    /** Waits for the end of a second. Returns true if it was the last one. */
    private boolean awaitEnd(long second) {
        long boundary = start + (second + 1) * SECOND + SETTLE;
        if (second < plan.duration) {
            stop.awaitUntil(boundary);
            if (System.nanoTime() > boundary + SETTLE) {
                // Whatever kept this thread from waking may have kept the others from recording.
                stop.awaitUntil(System.nanoTime() + SETTLE);
            }
            return stop.reason() != null;
        }
        while (stop.reason() == null && System.nanoTime() < boundary && !load.done()) {
            stop.awaitUntil(Math.min(boundary, System.nanoTime() + GLANCE));
        }
        return stop.reason() != null || load.done();
    }

    /** The planned length; without a rate it is estimated from the operations done so far. */
    private double planned(double elapsed) {
        Schedule schedule = load.schedule();
        if (plan.duration == 0 && schedule.rate() == 0) {
            return accounted == 0 ? 0 : Math.max(elapsed, elapsed * schedule.total() / accounted);
        }
        return plan.duration > 0 ? plan.duration : schedule.total() / schedule.rate();
    }

    private void watch(long second, Interval interval) {
        if (interval.completed() > 0) {
            lastAnswer = second;
        } else if (giveUp > 0 && second - lastAnswer >= giveUp) {
            String failure = recording.remarks.firstFailure();
            String reason = failure.isEmpty() ? ": the database is lost" : failure;
            stop.request(ExitCode.INCOMPLETE, "no operation was answered for " + giveUp + " s" + reason);
        }
    }
}
