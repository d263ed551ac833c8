package plimsoll.stress.core;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/**
 * The HDR V2 interval logs of a timed run: {@code X.hdr-<operation>} with service times, {@code
 * X.hdr-intended-<operation>} with response times, and {@code X.hdr.errors} with the times of failed operations, tagged
 * by kind. Values are microseconds; an interval holds what was answered in it. Time 0 is the start of the timed run.
 */
final class HdrLogs implements Sink {
    /** The maximum beside each histogram is printed in milliseconds. */
    private static final double MAXIMUM_UNIT = 1_000.0;

    private final List<Log> service = new ArrayList<>();
    private final List<Log> response = new ArrayList<>();
    private final Log errors;

    /**
     * Creates the files, emptying those that exist.
     *
     * @param prefix the value of {@code --hdr}
     * @throws IOException if one of them cannot be written
     */
    HdrLogs(Path prefix, List<Operation> operations, Instant start, Duration warmup) throws IOException {
        for (Operation operation : operations) {
            service.add(new Log(Path.of(prefix + "-" + operation.label), "service time from the send", start, warmup));
            response.add(new Log(
                    Path.of(prefix + "-intended-" + operation.label),
                    "response time from the intended start",
                    start,
                    warmup));
        }
        errors = new Log(Path.of(prefix + ".errors"), "time from the intended start to the failure", start, warmup);
    }

    @Override
    public void accept(Observation observation) throws IOException {
        for (int o = 0; o < service.size(); o++) {
            service.get(o).write(observation, observation.interval.service[o]);
            response.get(o).write(observation, observation.interval.response[o]);
        }
        for (ErrorKind kind : ErrorKind.ALL) {
            Histogram failed = observation.interval.failed[kind.ordinal()];
            if (failed.getTotalCount() > 0) {
                failed.setTag(kind.label);
                errors.write(observation, failed);
            }
        }
        errors.flush();
    }

    @Override
    public void close() throws IOException {
        for (Log log : service) {
            log.close();
        }
        for (Log log : response) {
            log.close();
        }
        errors.close();
    }

    /** One file. A {@link PrintStream} swallows errors: every line is followed by a flush that asks for them. */
    private static final class Log {
        private final Path path;
        private final PrintStream stream;
        private final HistogramLogWriter writer;

        Log(Path path, String meaning, Instant start, Duration warmup) throws IOException {
            this.path = path;
            stream = new PrintStream(
                    new BufferedOutputStream(Files.newOutputStream(path), 1 << 16), false, StandardCharsets.US_ASCII);
            writer = new HistogramLogWriter(stream);
            writer.outputComment("[plimsoll.stress: " + meaning + ", microseconds; warm-up: the first "
                    + warmup.toSeconds() + " s]");
            writer.outputLogFormatVersion();
            writer.outputBaseTime(start.toEpochMilli());
            writer.outputStartTime(start.toEpochMilli());
            writer.outputLegend();
            flush();
        }

        void write(Observation observation, EncodableHistogram histogram) throws IOException {
            writer.outputIntervalHistogram(observation.from, observation.until, histogram, MAXIMUM_UNIT);
            flush();
        }

        void flush() throws IOException {
            if (stream.checkError()) {
                throw new IOException("cannot write " + path + ": is the disk full?");
            }
        }

        void close() throws IOException {
            flush();
            stream.close();
        }
    }
}
