package plimsoll.stress.core;

import java.util.List;

/** The figures of a stage for one second (the last one may be shorter). Valid until the next observation. */
final class Observation {
    final Phase phase;
    /** Seconds from the stage's start to the beginning of this observation: a whole number. */
    final double from;
    /** Seconds from the stage's start to the end of this observation. */
    final double until;
    /** Planned length of the stage in seconds, without draining. */
    final double planned;
    /** Attempted rate in ops/s; 0: as fast as the concurrency cap allows. */
    final double rate;
    final Interval interval;
    final int inFlight;
    /**
     * The sum over threads of the most operations in flight. The threads need not have had their most at the same time.
     */
    final int inFlightMax;
    final long backlog;
    final Vitals.Sample vitals;
    /** What the database said for the first time, in sentences. */
    final List<String> remarks;

    Observation(
            Phase phase,
            double from,
            double until,
            double planned,
            double rate,
            Interval interval,
            int inFlight,
            int inFlightMax,
            long backlog,
            Vitals.Sample vitals,
            List<String> remarks) {
        this.phase = phase;
        this.from = from;
        this.until = until;
        this.planned = planned;
        this.rate = rate;
        this.interval = interval;
        this.inFlight = inFlight;
        this.inFlightMax = inFlightMax;
        this.backlog = backlog;
        this.vitals = vitals;
        this.remarks = remarks;
    }

    double seconds() {
        return until - from;
    }
}
