package plimsoll.stress.core;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The results of a run, as one JSON document. */
public final class Summary {
    private final RunOptions options;
    private final long seed;
    private final Instant started = Instant.now();
    private final Map<Phase, Tally> parts = new EnumMap<>(Phase.class);
    private Instant populateStart;
    private Instant timedStart;
    private Schedule schedule;
    private long unfinished;
    private Double decided;
    private Guard stopped;
    private long rows;
    private long retried;
    private long verified;
    private Remarks populateRemarks = new Remarks();
    private Remarks timedRemarks = new Remarks();
    private Map<String, Object> settled;
    private Map<String, Object> shares = Json.object();

    /** @param seed the seed of keys and values */
    public Summary(RunOptions options, long seed) {
        this.options = options;
        this.seed = seed;
    }

    /** Sets the workload. Until then the document has neither populating nor the timed run. */
    void workload(Workload workload) {
        shares = workload.sharesByLabel();
        for (Phase phase : Phase.values()) {
            parts.put(phase, new Tally(workload.operations));
        }
    }

    /** Sets the outcome of waiting for compactions. */
    void settled(Map<String, Object> outcome) {
        settled = outcome;
    }

    /** Sets the number of rows that were read back after populating and found. */
    void verified(long sample) {
        verified = sample;
    }

    /** Sets the number of times that a row was written again while populating, after its write had failed. */
    void retried(long times) {
        retried = times;
    }

    /** Sets the number of rows to be written before the timed run. */
    void rows(long planned) {
        rows = planned;
    }

    /** Called when populating starts. The returned tally must receive its observations. */
    Tally populate(Instant start, Operation write, Remarks remarks) {
        populateStart = start;
        populateRemarks = remarks;
        parts.put(Phase.POPULATE, new Tally(List.of(write)));
        return parts.get(Phase.POPULATE);
    }

    /** Called when the timed run starts. The returned sink must receive its observations. */
    Sink timed(Instant start, Schedule planned, Remarks remarks) {
        timedStart = start;
        timedRemarks = remarks;
        schedule = planned;
        return observation -> parts.get(observation.phase).add(observation);
    }

    /** Sets the number of the timed run's operations without an answer or failure. */
    void unfinished(long operations) {
        unfinished = operations;
    }

    /** Sets when the timed run ended because its outcome was certain, s from its start; null: it did not. */
    void decided(Double seconds) {
        decided = seconds;
    }

    /** Sets the guard whose rule was broken, so that the timed run ended. */
    void stopped(Guard guard) {
        stopped = guard;
    }

    /** Returns a sentence on the timed run; empty before it. */
    public String sentence() {
        if (timedStart == null) {
            return "";
        }
        Tally whole = timed();
        return String.format(
                        Locale.ROOT,
                        "%,d of %,d operations were answered, %,d failed, %,d have no end",
                        whole.completed(),
                        scheduled(whole),
                        whole.failures(),
                        unfinished)
                + (decided == null ? "" : String.format(Locale.ROOT, "; decided after %.0f s", decided))
                + (stopped == null ? "" : String.format(Locale.ROOT, "; ended after %.0f s: %s", stopped.ended(), stopped.why()))
                + warned(timedRemarks.warnings());
    }

    private static String warned(long count) {
        return count == 0 ? "" : String.format(Locale.ROOT, "; the database warned %,d times", count);
    }

    /**
     * Writes the document, whole or not at all.
     *
     * @throws IOException if the file cannot be written
     */
    public void write(Path path, ExitCode exitCode, String reason) throws IOException {
        Path draft = path.resolveSibling(path.getFileName() + ".part");
        Files.writeString(draft, Json.document(document(exitCode, reason)));
        Files.move(draft, path, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    private Map<String, Object> document(ExitCode exitCode, String reason) {
        return Json.object(
                "complete", exitCode == ExitCode.COMPLETE,
                "reason", reason,
                "exit_code", exitCode == ExitCode.SIGNAL ? null : exitCode.code,
                "generator", String.join(" ", new Version().getVersion()),
                "java", Runtime.version().toString(),
                "cpus", Runtime.getRuntime().availableProcessors(),
                "workload", options.workload,
                "threads", options.threads,
                "concurrency", options.concurrency,
                "seed", seed,
                "split", options.split.toString(),
                "started", started.toString(),
                "ended", Instant.now().toString(),
                "populate", populateStart == null ? null : populateDocument(),
                "run", timedStart == null ? null : timedDocument());
    }

    private Map<String, Object> populateDocument() {
        Tally tally = parts.get(Phase.POPULATE);
        return Json.object(
                "started", populateStart.toString(),
                "seconds", Json.rounded(tally.seconds()),
                "scheduled", rows,
                "completed", tally.completed(),
                "retried", retried,
                "verified", verified,
                "settle", settled,
                "achieved_ops_s", Json.rounded(tally.achieved()),
                "errors", tally.errorsByKind(0),
                "failures", populateRemarks.failureDocuments(),
                "server_warnings", warnings(populateRemarks));
    }

    private static Map<String, Object> warnings(Remarks remarks) {
        return Json.object("count", remarks.warnings(), "first", remarks.warningDocuments());
    }

    private Map<String, Object> timedDocument() {
        Tally whole = timed();
        return Json.object(
                "started", timedStart.toString(),
                "loop", schedule.isClosed() ? "closed" : "open",
                "duration_s", options.duration.toSeconds(),
                "warmup_s", options.warmup.toSeconds(),
                "decided_s", decided == null ? null : Json.plain(decided),
                "stopped", stopped == null ? null : stoppedDocument(),
                "drain_s", Json.rounded(parts.get(Phase.DRAIN).seconds()),
                "attempted_ops_s", attempted(),
                "scheduled", scheduled(whole),
                "completed", whole.completed(),
                "operations", whole.operations(),
                "shares", shares,
                "errors", whole.errorsByKind(unfinished),
                "failures", timedRemarks.failureDocuments(),
                "server_warnings", warnings(timedRemarks),
                "warmup", part(parts.get(Phase.WARMUP)),
                "measured", part(parts.get(Phase.MEASURE)));
    }

    /** The rate of the schedule; null for a closed loop, which attempts none. */
    private Number attempted() {
        return schedule.isClosed() ? null : Json.plain(schedule.rate());
    }

    /** The operations that were due; in a closed loop, those that were sent. */
    private long scheduled(Tally whole) {
        return schedule.isClosed() ? whole.completed() + whole.failures() + unfinished : schedule.total();
    }

    private Map<String, Object> stoppedDocument() {
        return Json.object(
                "seconds", Json.plain(stopped.ended()),
                "rule", stopped.rule(),
                "why", stopped.why(),
                "host", stopped.host(),
                "silent", stopped.isSilent());
    }

    private Tally timed() {
        Tally whole = new Tally(parts.get(Phase.MEASURE).operationsInOrder());
        whole.add(parts.get(Phase.WARMUP));
        whole.add(parts.get(Phase.MEASURE));
        whole.add(parts.get(Phase.DRAIN));
        return whole;
    }

    private Map<String, Object> part(Tally tally) {
        return Json.object(
                "seconds", Json.rounded(tally.seconds()),
                "attempted_ops_s", attempted(),
                "achieved_ops_s", Json.rounded(tally.achieved()),
                "rows_s", Json.rounded(tally.rowsPerSecond()),
                "completed", tally.completed(),
                "operations", tally.operations(),
                "errors", tally.errorsByKind(0),
                "generator", tally.generator());
    }
}
