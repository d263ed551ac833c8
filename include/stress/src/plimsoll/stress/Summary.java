package plimsoll.stress;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;

/** What came of a run, as one JSON document. */
final class Summary {
    private final RunOptions options;
    private final Instant started = Instant.now();
    private final Map<Phase, Tally> parts = new EnumMap<>(Phase.class);
    private Instant populateStart;
    private Instant timedStart;
    private Schedule schedule;
    private long unfinished;

    Summary(RunOptions options) {
        this.options = options;
        for (Phase phase : Phase.values()) {
            parts.put(phase, new Tally());
        }
    }

    /** Populating starts: the returned tally is to be shown its observations. */
    Tally populate(Instant start) {
        populateStart = start;
        return parts.get(Phase.POPULATE);
    }

    /** The timed run starts: the returned sink is to be shown its observations. */
    Sink timed(Instant start, Schedule planned) {
        timedStart = start;
        schedule = planned;
        return observation -> parts.get(observation.phase).add(observation);
    }

    /** Operations of the timed run without an end. */
    void unfinished(long operations) {
        unfinished = operations;
    }

    /**
     * Writes the document, whole or not at all.
     *
     * @throws IOException if the file cannot be written
     */
    void write(Path path, ExitCode exitCode, String reason) throws IOException {
        Path draft = path.resolveSibling(path.getFileName() + ".part");
        Files.writeString(draft, Json.document(document(exitCode, reason)));
        Files.move(draft, path, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    private Map<String, Object> document(ExitCode exitCode, String reason) {
        return Json.object(
                "complete", exitCode == ExitCode.COMPLETE,
                "reason", reason,
                "exit_code", exitCode == ExitCode.SIGNAL ? null : exitCode.code,
                "generator", "plimsoll.stress " + version(),
                "java", Runtime.version().toString(),
                "cpus", Runtime.getRuntime().availableProcessors(),
                "workload", options.workload,
                "threads", options.threads,
                "concurrency", options.concurrency,
                "seed", options.seed,
                "started", started.toString(),
                "ended", Instant.now().toString(),
                "populate", populateStart == null ? null : populateDocument(),
                "run", timedStart == null ? null : timedDocument());
    }

    /** The build that the jar's manifest names. */
    private static String version() {
        String version = Summary.class.getPackage().getImplementationVersion();
        return version == null ? "(not packed)" : version;
    }

    private Map<String, Object> populateDocument() {
        Tally tally = parts.get(Phase.POPULATE);
        return Json.object(
                "started", populateStart.toString(),
                "seconds", Json.rounded(tally.seconds()),
                "scheduled", options.populate * options.threads,
                "completed", tally.completed(),
                "achieved_ops_s", Json.rounded(tally.achieved()),
                "errors", tally.errorsByKind(0));
    }

    private Map<String, Object> timedDocument() {
        Tally whole = new Tally();
        whole.add(parts.get(Phase.WARMUP));
        whole.add(parts.get(Phase.MEASURE));
        whole.add(parts.get(Phase.DRAIN));
        return Json.object(
                "started", timedStart.toString(),
                "duration_s", options.duration.toSeconds(),
                "warmup_s", options.warmup.toSeconds(),
                "drain_s", Json.rounded(parts.get(Phase.DRAIN).seconds()),
                "attempted_ops_s", options.rate,
                "scheduled", schedule.total(),
                "completed", whole.completed(),
                "operations", whole.operations(),
                "errors", whole.errorsByKind(unfinished),
                "warmup", part(parts.get(Phase.WARMUP)),
                "measured", part(parts.get(Phase.MEASURE)));
    }

    private Map<String, Object> part(Tally tally) {
        return Json.object(
                "seconds", Json.rounded(tally.seconds()),
                "attempted_ops_s", options.rate,
                "achieved_ops_s", Json.rounded(tally.achieved()),
                "completed", tally.completed(),
                "operations", tally.operations(),
                "errors", tally.errorsByKind(0),
                "generator", tally.generator());
    }
}
