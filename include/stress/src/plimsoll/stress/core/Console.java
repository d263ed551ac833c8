package plimsoll.stress.core;

import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/** Lines for people on standard output: one every 10 s, and one as soon as operations overflow or the database warns. */
final class Console implements Sink {
    private static final int PERIOD = 10;

    private final PrintStream out;
    private final Duration backlogLimit;
    private final Histogram times = Recording.histogram();
    private double since;
    private long errors;
    private long overflow;

    Console(PrintStream out, Duration backlogLimit) {
        this.out = out;
        this.backlogLimit = backlogLimit;
    }

    void say(String text) {
        out.println(text);
        out.flush();
    }

    @Override
    public void accept(Observation observation) {
        Interval interval = observation.interval;
        if (observation.from == 0) {
            restart(0);
            errors = 0;
            overflow = 0;
        }
        observation.remarks.forEach(this::say);
        for (Histogram histogram : measured(observation)) {
            times.add(histogram);
        }
        errors += interval.failures();
        long overflowed = interval.errors(ErrorKind.OVERFLOW);
        boolean first = overflow == 0 && overflowed > 0;
        overflow += overflowed;
        if (first) {
            sayOverflow();
        }
        if (observation.until % PERIOD == 0) {
            report(observation);
            restart(observation.until);
        }
    }

    private void restart(double second) {
        times.reset();
        since = second;
    }

    /**
     * Returns response times. Where operations have no intended starts, because they are sent as fast as possible,
     * service times.
     */
    private static List<Histogram> measured(Observation observation) {
        Interval interval = observation.interval;
        return List.of(observation.rate == 0 ? interval.service : interval.response);
    }

    private void report(Observation observation) {
        boolean paced = observation.rate > 0;
        say(String.format(
                Locale.ROOT,
                "%-8s %6.0f of %s%.0f s  %,10.1f%s ops/s  %s ms p50 %.2f p99 %.2f p99.9 %.2f max %.2f  "
                        + "in flight %d  %serrors %,d",
                observation.phase.label,
                observation.until,
                paced ? "" : "about ",
                observation.planned,
                times.getTotalCount() / (observation.until - since),
                paced ? String.format(Locale.ROOT, " of %,.0f", observation.rate) : "",
                paced ? "response" : "service",
                times.getValueAtPercentile(50) / 1e3,
                times.getValueAtPercentile(99) / 1e3,
                times.getValueAtPercentile(99.9) / 1e3,
                times.getMaxValue() / 1e3,
                observation.inFlight,
                String.format(Locale.ROOT, paced ? "backlog %,d  " : "left %,d  ", observation.backlog),
                errors));
        if (overflow > 0) {
            sayOverflow();
        }
    }

    private void sayOverflow() {
        say(String.format(
                Locale.ROOT,
                "overflow: %,d operations so far could only have been sent more than %d s late; they were not sent and "
                        + "count as errors",
                overflow,
                backlogLimit.toSeconds()));
    }
}
