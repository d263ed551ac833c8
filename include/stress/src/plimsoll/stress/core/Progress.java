package plimsoll.stress.core;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;

/** The progress file: a line of JSON for every second of a stage, for programs that watch the run. */
final class Progress implements Sink {
    private final Writer file;
    private final Watch watch;
    private Phase stage = Phase.CONNECT;
    private Tally tally;

    /** @throws IOException if the file cannot be written */
    Progress(Path path, Watch watch) throws IOException {
        this.watch = watch;
        file = Files.newBufferedWriter(path);
    }

    @Override
    public void accept(Observation observation) throws IOException {
        restart(observation);
        tally.add(observation);
        file.write(Json.line(line(observation)) + "\n");
        file.flush();
    }

    @Override
    public void ready() throws IOException {
        file.write(Json.line(Json.object("time", Instant.now().toString(), "phase", Phase.READY.label)) + "\n");
        file.flush();
    }

    /** Starts new sums, because populating and the timed run are counted separately. */
    private void restart(Observation observation) {
        if (tally == null || (stage == Phase.POPULATE && observation.phase != Phase.POPULATE)) {
            tally = new Tally(observation.interval.operations);
        }
        stage = observation.phase;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    private Map<String, Object> line(Observation observation) {
        Interval interval = observation.interval;
        Vitals.Sample vitals = observation.vitals;
        return Json.object(
                "time", Instant.now().toString(),
                "phase", observation.phase.label,
                "elapsed_s", Json.rounded(observation.until),
                "planned_s", Json.rounded(observation.planned),
                "attempted_ops_s", observation.rate == 0 ? null : Json.plain(observation.rate),
                "achieved_ops_s", Json.rounded(interval.completed() / observation.seconds()),
                "achieved_overall_ops_s", Json.rounded(tally.achieved()),
                "completed", tally.completed(),
                "in_flight", observation.inFlight,
                "in_flight_max", observation.inFlightMax,
                "backlog", observation.backlog,
                "errors", tally.errorsByKind(0),
                "schedule_lag_ms", Tally.lagMillis(interval.lag),
                "cpu_cores", Json.rounded(vitals.cores()),
                "gc_count", vitals.collections,
                "gc_ms", vitals.collectionMillis,
                "hiccup_max_ms", Json.rounded(vitals.hiccupMillis),
                "watch", watch.document());
    }
}
