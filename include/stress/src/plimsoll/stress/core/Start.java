package plimsoll.stress.core;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;

/**
 * The start of the timed run: soon or, where several generators start together, at a given time.
 *
 * <p>A file gives that time: {@code {"start": …, "local": …}}. Both are the same instant: {@code start} by the clock
 * that all generators' logs use, {@code local} by this host's own clock, which may be ahead of it or behind.
 */
final class Start {
    /** Time for the threads to get going before the first operation is due, in milliseconds. */
    private static final long LEAD = 200;

    private static final long GLANCE = 50_000_000L;

    /** The start by the clock that logs use: a whole second. */
    final Instant instant;

    private final Instant local;

    private Start(Instant instant, Instant local) {
        this.instant = instant;
        this.local = local;
    }

    /** Returns a start on the next whole second that leaves time to begin. */
    static Start soon() {
        Instant soon = Instant.ofEpochSecond(Instant.now().plusMillis(LEAD).getEpochSecond() + 1);
        return new Start(soon, soon);
    }

    /**
     * Waits for the file, and returns the start that it contains.
     *
     * @throws StressException if the run must end before, if the file has no start, or if that start is past
     */
    static Start told(Path file, Stop stop) throws StressException {
        while (!Files.exists(file)) {
            stop.awaitUntil(System.nanoTime() + GLANCE);
            if (stop.reason() != null) {
                throw stop.reason();
            }
        }
        Start start = read(file);
        Duration late = Duration.between(start.local, Instant.now());
        if (!late.isNegative()) {
            throw new StressException(
                    ExitCode.INCOMPLETE,
                    "the start was to be at " + start.local + " by this host's clock, which was " + late.toMillis()
                            + " ms past when it was told");
        }
        return start;
    }

    /** Returns the start as {@link System#nanoTime()}. */
    long nanos() {
        return System.nanoTime() + Duration.between(Instant.now(), local).toNanos();
    }

    private static Start read(Path file) throws StressException {
        try {
            JsonNode told = new ObjectMapper().readTree(file.toFile());
            return new Start(Instant.parse(told.path("start").asText()), Instant.parse(told.path("local").asText()));
        } catch (IOException | DateTimeParseException error) {
            throw new StressException(ExitCode.INCOMPLETE, file + " does not say when to start: " + error.getMessage());
        }
    }
}
