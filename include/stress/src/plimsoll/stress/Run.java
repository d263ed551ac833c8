package plimsoll.stress;

import com.datastax.oss.driver.api.core.CqlSession;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** One run from the connection to the last answer: schema, populating, the timed run. */
final class Run {
    /** Share of rows that may fail to be written while populating. */
    private static final double TOLERATED_LOSS = 0.001;
    /** Time for the threads to get going before the first operation is due, in milliseconds. */
    private static final long LEAD = 200;

    private final RunOptions options;
    private final String command;
    private final Stop stop;
    private final Summary summary;
    private final Console console;

    Run(RunOptions options, String command, Stop stop, Summary summary) {
        this.options = options;
        this.command = command;
        this.stop = stop;
        this.summary = summary;
        this.console = new Console(System.out, options.backlogLimit);
    }

    /**
     * Does it all; the summary holds what came of it, also after an exception.
     *
     * @throws StressException if it ended early
     * @throws IOException if an output file cannot be written
     */
    void execute() throws StressException, IOException {
        Workload workload = Workload.named(options.workload, options.seed);
        console.say("connecting to " + options.hosts + ", port " + options.port);
        CqlSession session = Sessions.load(options);
        try (Vitals vitals = new Vitals();
                Sink progress = options.progress == null ? observation -> {} : new Progress(options.progress)) {
            Workload.Statements statements = Schema.create(session, workload, options);
            List<Traffic> traffic = traffic(statements);
            populate(session, traffic, vitals, progress);
            load(session, traffic, vitals, progress);
        } finally {
            // An orderly close would wait for answers of a database that may be lost.
            session.forceCloseAsync();
        }
    }

    private List<Traffic> traffic(Workload.Statements statements) {
        List<Traffic> traffic = new ArrayList<>();
        SplittableRandom seeds = new SplittableRandom(options.seed);
        for (int thread = 0; thread < options.threads; thread++) {
            PartitionKeys keys = new PartitionKeys(
                    options.partitionGenerator, options.id, thread, options.partitions, seeds.nextLong());
            traffic.add(new Traffic(statements, keys, seeds.split(), options.readShare));
        }
        return traffic;
    }

    private void populate(CqlSession session, List<Traffic> traffic, Vitals vitals, Sink progress)
            throws StressException, IOException {
        if (options.populate == 0) {
            return;
        }
        long rows = options.populate * options.threads;
        console.say(String.format("populating: %,d rows", rows));
        List<Traffic> writes = new ArrayList<>();
        traffic.forEach(thread -> writes.add(thread.writesOnly()));
        Schedule schedule = new Schedule(options.populateRate(), rows, options.threads);
        Tally tally = summary.populate(Instant.now());
        stage(session, schedule, writes, Stage.Plan.untilDone(), vitals, List.of(tally::add, progress, console))
                .run(System.nanoTime());
        endIfStopped();
        if (tally.failures() > rows * TOLERATED_LOSS) {
            throw new StressException(
                    ExitCode.POPULATE,
                    tally.failures() + " of " + rows + " rows could not be written: " + tally.errorsByKind(0));
        }
    }

    private void load(CqlSession session, List<Traffic> traffic, Vitals vitals, Sink progress)
            throws StressException, IOException {
        long seconds = options.duration.toSeconds();
        Schedule schedule = new Schedule(options.rate, options.rate * seconds, options.threads);
        Stage.Plan plan = Stage.Plan.timed(options.warmup.toSeconds(), seconds, options.drain.toSeconds());
        Instant start = wholeSecond(Instant.now().plusMillis(LEAD));
        try (Sink hdr = options.hdr == null ? observation -> {} : new HdrLogs(options.hdr, start, options.warmup);
                Sink csv = options.csv == null ? observation -> {} : new CsvLog(options.csv, start, command)) {
            console.say("timed run: from " + start + ", " + seconds + " s, " + options.rate + " ops/s");
            List<Sink> sinks = List.of(hdr, csv, summary.timed(start, schedule), progress, console);
            Stage stage = stage(session, schedule, traffic, plan, vitals, sinks);
            vitals.sample();
            summary.unfinished(stage.run(System.nanoTime() + Duration.between(Instant.now(), start).toNanos()));
        }
        endIfStopped();
    }

    private Stage stage(
            CqlSession session,
            Schedule schedule,
            List<Traffic> traffic,
            Stage.Plan plan,
            Vitals vitals,
            List<Sink> sinks) {
        Recording recording = new Recording();
        List<Worker> workers = new ArrayList<>();
        for (int thread = 0; thread < options.threads; thread++) {
            workers.add(new Worker(
                    session,
                    schedule.lane(thread),
                    traffic.get(thread),
                    recording,
                    (int) options.concurrency,
                    options.backlogLimit.toNanos()));
        }
        return new Stage(
                new Load(schedule, workers), recording, plan, options.giveUp.toSeconds(), vitals, stop, sinks);
    }

    private void endIfStopped() throws StressException {
        if (stop.reason() != null) {
            throw stop.reason();
        }
    }

    private static Instant wholeSecond(Instant instant) {
        return Instant.ofEpochSecond(instant.getEpochSecond() + 1);
    }
}
