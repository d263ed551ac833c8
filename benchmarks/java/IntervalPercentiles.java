import java.io.File;
import java.io.FileNotFoundException;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.HdrHistogram.HistogramLogReader;

/**
 * Percentiles of every interval of interval logs, by Java's own HdrHistogram: what Plimsoll's figures are held against.
 *
 * <p>Arguments: warm-up and interval in seconds, values in a millisecond, then logs as {@code FILE} or {@code FILE@TAG}.
 * Prints for each interval (0 is the first after warm-up) and each log, then for all logs together: interval, log, count,
 * and the values at p50, p90, p99, p99.9 and the maximum.
 */
public final class IntervalPercentiles {
    private static final double[] PERCENTILES = {50, 90, 99, 99.9};

    private IntervalPercentiles() {}

    public static void main(String[] args) throws FileNotFoundException {
        double warmup = Double.parseDouble(args[0]);
        double length = Double.parseDouble(args[1]);
        long hour = 3_600_000L * Long.parseLong(args[2]);
        List<Source> sources = new ArrayList<>();
        for (int a = 3; a < args.length; a++) {
            sources.add(new Source(args[a], warmup, length));
        }
        Histogram all = new Histogram(1, hour, 3);
        Histogram one = new Histogram(1, hour, 3);
        StringBuilder out = new StringBuilder();
        for (long interval = first(sources); interval < Long.MAX_VALUE; interval = first(sources)) {
            all.reset();
            for (Source source : sources) {
                one.reset();
                source.drain(interval, one);
                line(out, interval, source.name, one);
                all.add(one);
            }
            line(out, interval, "all", all);
        }
        System.out.print(out);
    }

    private static long first(List<Source> sources) {
        return sources.stream().mapToLong(Source::interval).min().orElse(Long.MAX_VALUE);
    }

    private static void line(StringBuilder out, long interval, String name, Histogram histogram) {
        out.append(interval).append(' ').append(name).append(' ').append(histogram.getTotalCount());
        for (double percentile : PERCENTILES) {
            out.append(' ').append(histogram.getValueAtPercentile(percentile));
        }
        out.append(' ').append(histogram.getMaxValue()).append('\n');
    }

    /** One operation's histograms, in the order of the log, the next one looked at ahead. */
    private static final class Source {
        final String name;
        private final String tag;
        private final HistogramLogReader reader;
        private final double warmup;
        private final double length;
        private Histogram next;
        private double firstStart = Double.NaN;

        Source(String argument, double warmup, double length) throws FileNotFoundException {
            int at = argument.lastIndexOf('@');
            name = argument.substring(at + 1);
            tag = at < 0 ? null : name;
            reader = new HistogramLogReader(new File(at < 0 ? argument : argument.substring(0, at)));
            this.warmup = warmup;
            this.length = length;
            advance();
        }

        /** The number of the interval around the next histogram's middle. */
        long interval() {
            if (next == null) {
                return Long.MAX_VALUE;
            }
            double middle = (next.getStartTimeStamp() + next.getEndTimeStamp()) / 2e3;
            return (long) Math.floor((middle - firstStart - warmup) / length);
        }

        void drain(long interval, Histogram into) {
            while (interval() == interval) {
                if (next.getNumberOfSignificantValueDigits() == 3 && next.getLowestDiscernibleValue() == 1) {
                    into.add(next);
                } else {
                    addReported(into);
                }
                advance();
            }
        }

        /** Adds the values that the log's own histogram reports, where {@code add} takes the lowest of each slot. */
        private void addReported(Histogram into) {
            for (HistogramIterationValue value : next.recordedValues()) {
                long reported = next.highestEquivalentValue(value.getValueIteratedTo());
                into.recordValueWithCount(reported, value.getCountAddedInThisIterationStep());
            }
        }

        private void advance() {
            EncodableHistogram read = reader.nextIntervalHistogram();
            while (read != null && tag != null && !tag.equals(read.getTag())) {
                read = reader.nextIntervalHistogram();
            }
            next = (Histogram) read;
            if (next != null && Double.isNaN(firstStart)) {
                firstStart = next.getStartTimeStamp() / 1e3;
            }
        }
    }
}
