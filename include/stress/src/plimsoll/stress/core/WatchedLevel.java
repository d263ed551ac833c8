package plimsoll.stress.core;

import java.util.Map;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A service level, such as {@code 99.9/10s/100ms} or {@code 99/5s/50ms/reads}: the percentile of the response times of
 * every interval is below the bound. It judges each interval when it ends. One without an answer is not judged.
 */
final class WatchedLevel {
    private static final String ALL = "all";

    private final String text;
    private final double percentile;
    private final long seconds;
    private final double boundMillis;
    private final String operations;

    private final Histogram times = Recording.histogram();
    private Double last;
    private double worst;
    private long judged;
    private long missed;

    private WatchedLevel(String text, String[] parts) {
        this.text = text;
        percentile = Double.parseDouble(parts[0]);
        seconds = Units.duration(parts[1]).toSeconds();
        boundMillis = Double.parseDouble(parts[2].substring(0, parts[2].length() - "ms".length()));
        operations = parts.length > 3 ? parts[3] : ALL;
        if (!(percentile > 0 && percentile <= 100) || seconds == 0 || !parts[2].endsWith("ms") || parts.length > 4) {
            throw new IllegalArgumentException(text);
        }
    }

    /** Adds a second of the judged time, which ends so many seconds after the warm-up. */
    void add(Interval interval, double judgedSeconds) {
        for (int o = 0; o < interval.response.length; o++) {
            if (operations.equals(ALL) || operations.equals(interval.operations.get(o).name)) {
                times.add(interval.response[o]);
            }
        }
        if (ends(judgedSeconds)) {
            judge();
        }
    }

    /** Returns whether an interval ends so many seconds after the warm-up. */
    boolean ends(double judgedSeconds) {
        return judgedSeconds % seconds == 0;
    }

    private void judge() {
        judged++;
        last = times.getTotalCount() == 0 ? null : times.getValueAtPercentile(percentile) / 1e3;
        if (last != null) {
            worst = Math.max(worst, last);
            missed += last >= boundMillis ? 1 : 0;
        }
        times.reset();
    }

    long judged() {
        return judged;
    }

    long missed() {
        return missed;
    }

    /** Returns the figures of the intervals so far. */
    Map<String, Object> document() {
        return Json.object(
                "level", text,
                "last_ms", last == null ? null : Json.rounded(last),
                "worst_ms", Json.rounded(worst),
                "judged", judged,
                "missed", missed);
    }

    /** Parses a service level on the command line. */
    static final class Converter implements ITypeConverter<WatchedLevel> {
        @Override
        public WatchedLevel convert(String text) {
            try {
                return new WatchedLevel(text, text.split("/"));
            } catch (RuntimeException error) {
                throw new TypeConversionException("'" + text + "' is not a service level such as 99.9/10s/100ms");
            }
        }
    }
}
