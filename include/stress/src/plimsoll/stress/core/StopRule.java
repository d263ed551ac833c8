package plimsoll.stress.core;

import java.util.Locale;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A rule by which a load ends so that it does no harm: {@code errors/10s/5%}, or {@code 99/30s/1000ms}. Of the
 * operations of so long, at most that share may fail, or the percentile of the answered ones may be at most that time.
 */
final class StopRule {
    private static final String ERRORS = "errors";
    /** More operations than a share of them may be off by, as 1 - 90 / 100.0 is less than 0.1. */
    private static final double ROUNDING = 1e-6;

    final int seconds;
    private final String text;
    /** Share of the operations that may break the bound. */
    private final double share;
    /** Longest response time, in microseconds; 0: the failed operations break the bound. */
    private final long boundMicros;

    private StopRule(String text, String[] parts) {
        this.text = text;
        boolean isOfErrors = parts[0].equals(ERRORS);
        String unit = isOfErrors ? "%" : "ms";
        double bound = Double.parseDouble(parts[2].substring(0, parts[2].length() - unit.length()));
        seconds = Math.toIntExact(Units.duration(parts[1]).toSeconds());
        share = isOfErrors ? bound / 100 : 1 - Double.parseDouble(parts[0]) / 100;
        boundMicros = isOfErrors ? 0 : Math.round(bound * 1e3);
        boolean fits = parts.length == 3 && parts[2].endsWith(unit) && seconds > 0 && share > 0 && share < 1;
        if (!fits || !(bound > 0)) {
            throw new IllegalArgumentException(text);
        }
    }

    /** Returns the number of operations of a second that break the bound. */
    long breaking(Observation observation) {
        Interval interval = observation.interval;
        if (boundMicros == 0) {
            return interval.failures();
        }
        long slower = 0;
        // Where operations are sent as fast as possible they have no intended starts.
        for (Histogram times : observation.rate == 0 ? interval.service : interval.response) {
            slower += times.getCountBetweenValues(times.nextNonEquivalentValue(boundMicros), Recording.HIGHEST);
        }
        return slower;
    }

    /** Returns in words how the rule is broken by the operations of its time, or null. */
    String broken(long breaking, long answered, long failed, boolean areUnderWay) {
        long all = boundMicros == 0 ? answered + failed : answered;
        if (breaking <= share * all + ROUNDING) {
            boolean isSilent = answered == 0 && (failed > 0 || areUnderWay);
            return isSilent ? "no operation was answered for " + seconds + " s" : null;
        }
        String what = boundMicros == 0 ? "failed" : "took longer than " + Json.plain(boundMicros / 1e3) + " ms";
        return String.format(
                Locale.ROOT,
                "%,d of %,d operations of %d s %s, more than %s %%",
                breaking, all, seconds, what, Json.plain(Math.round(share * 1e8) / 1e6));
    }

    @Override
    public String toString() {
        return text;
    }

    /** Parses a rule on the command line. */
    static final class Converter implements ITypeConverter<StopRule> {
        @Override
        public StopRule convert(String text) {
            try {
                return new StopRule(text, text.split("/"));
            } catch (RuntimeException error) {
                throw new TypeConversionException("'" + text + "' is no rule such as errors/10s/5% or 99/30s/1000ms");
            }
        }
    }
}
