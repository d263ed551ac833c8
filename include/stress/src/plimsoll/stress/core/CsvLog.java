package plimsoll.stress.core;

import com.codahale.metrics.Meter;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * The CSV file: a group of columns for each operation (31 columns with BasicTimeSeries), a row every 3 s. Counts are cumulative; percentiles are of the response times, in
 * milliseconds, of the row's own seconds, from the merged histograms; the one-minute rates are the exponentially
 * weighted ones of Dropwizard's meters, as tlp-stress has them.
 */
final class CsvLog implements Sink {
    private static final int PERIOD = 3;
    private static final double[] PERCENTILES = {50, 90, 99, 99.9, 99.99};
    private static final String OPERATION_COLUMNS = "Count,Latency (min),Latency (p50),Latency (p90),Latency (p99),"
            + "Latency (p99.9),Latency (p99.99),Latency (max),1min (req/s)";
    private static final String NO_DELETES = "0,0.000,0.000,0.000,0.000,0.000,0.000,0.000,0.000";

    private static final int COLUMNS = 9;

    private final BufferedWriter file;
    /** Whether to write columns for deletes: tlp-stress does, although these workloads never delete. */
    private final boolean hasDeletes;

    private final List<Group> groups = new ArrayList<>();
    private final Meter errors = new Meter();
    private int seconds;
    private double until;

    /**
     * Creates the file, emptying it if it exists.
     *
     * @param command the command line, for the file's head
     * @throws IOException if it cannot be written
     */
    CsvLog(Path path, List<Operation> operations, Instant start, String command) throws IOException {
        file = Files.newBufferedWriter(path);
        operations.forEach(operation -> groups.add(new Group()));
        hasDeletes = operations.stream().anyMatch(operation -> operation.label.equals("mutations"));
        line("# plimsoll.stress run at " + start);
        line("# " + command.replaceAll("\\R", " "));
        List<String> names = new ArrayList<>();
        operations.forEach(operation -> names.add(operation.column));
        if (hasDeletes) {
            names.add("Deletes");
        }
        line(",," + String.join(",".repeat(COLUMNS), names) + ",".repeat(COLUMNS) + "Errors,");
        line("Timestamp, Elapsed Time," + (OPERATION_COLUMNS + ",").repeat(names.size()) + "Count,1min (errors/s)");
        file.flush();
    }

    @Override
    public void accept(Observation observation) throws IOException {
        for (int o = 0; o < groups.size(); o++) {
            groups.get(o).add(observation.interval.response[o]);
        }
        errors.mark(observation.interval.failures());
        until = observation.until;
        if (++seconds % PERIOD == 0) {
            row();
        }
    }

    @Override
    public void close() throws IOException {
        if (seconds % PERIOD != 0) {
            row();
        }
        file.close();
    }

    private void row() throws IOException {
        StringBuilder row = new StringBuilder();
        row.append(Instant.now()).append(',').append((long) until).append(',');
        for (Group group : groups) {
            row.append(group.take()).append(',');
        }
        row.append(hasDeletes ? NO_DELETES + "," : "").append(errors.getCount());
        line(row.append(',').append(decimals(errors.getOneMinuteRate())).toString());
        file.flush();
    }

    private void line(String text) throws IOException {
        file.write(text);
        file.newLine();
    }

    private static String decimals(double number) {
        return String.format(Locale.ROOT, "%.3f", number);
    }

    /** The columns of one operation. */
    private static final class Group {
        private final Histogram recent = Recording.histogram();
        private final Meter rate = new Meter();

        void add(Histogram response) {
            recent.add(response);
            rate.mark(response.getTotalCount());
        }

        String take() {
            StringBuilder columns = new StringBuilder().append(rate.getCount());
            append(columns, recent.getTotalCount() == 0 ? 0 : recent.getMinValue());
            for (double percentile : PERCENTILES) {
                append(columns, recent.getValueAtPercentile(percentile));
            }
            append(columns, recent.getMaxValue());
            recent.reset();
            return columns.append(',').append(decimals(rate.getOneMinuteRate())).toString();
        }

        private static void append(StringBuilder columns, long micros) {
            columns.append(',').append(decimals(micros / 1e3));
        }
    }
}
