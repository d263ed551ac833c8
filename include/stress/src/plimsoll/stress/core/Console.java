package plimsoll.stress.core;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/** Lines for people on standard output: one every 10 s, and one as soon as operations overflow. */
final class Console implements Sink {
    private static final int PERIOD = 10;

    private final PrintStream out;
    private final Duration backlogLimit;
    private final Histogram response = Recording.histogram();
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
        for (Histogram histogram : interval.response) {
            response.add(histogram);
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
        response.reset();
        since = second;
    }

    private void report(Observation observation) {
        say(String.format(
                Locale.ROOT,
                "%-8s %6.0f of %.0f s  %,10.1f of %,.0f ops/s  response ms p50 %.2f p99 %.2f p99.9 %.2f max %.2f  "
                        + "in flight %d  backlog %,d  errors %,d",
                observation.phase.label,
                observation.until,
                observation.planned,
                response.getTotalCount() / (observation.until - since),
                observation.rate,
                response.getValueAtPercentile(50) / 1e3,
                response.getValueAtPercentile(99) / 1e3,
                response.getValueAtPercentile(99.9) / 1e3,
                response.getMaxValue() / 1e3,
                observation.inFlight,
                observation.backlog,
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
