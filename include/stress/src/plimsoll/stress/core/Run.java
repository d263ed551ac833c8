package plimsoll.stress.core;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** One run from the connection to the last answer: schema, populating, the timed run. */
public final class Run {
    /** The greatest share of rows that may be lost while populating. */
    private static final double TOLERATED_LOSS = 0.001;

    private final RunOptions options;
    private final Connector connector;
    private final Workload workload;
    private final long seed;
    private final String command;
    private final Stop stop;
    private final Summary summary;
    private final Console console;
    private final Watch watch;

    /** @param command the command line, for the heads of files */
    public Run(
            RunOptions options,
            Connector connector,
            Workload workload,
            long seed,
            String command,
            Stop stop,
            Summary summary) {
        this.options = options;
        this.connector = connector;
        this.workload = workload;
        this.seed = seed;
        this.command = command;
        this.stop = stop;
        this.summary = summary;
        this.console = new Console(System.out, options.backlogLimit);
        this.watch = new Watch(options.watch, options.stopDecided);
    }

    /**
     * Runs everything. The summary contains the results, also after an exception.
     *
     * @throws StressException if it ended early
     * @throws IOException if an output file cannot be written
     */
    public void execute() throws StressException, IOException {
        summary.workload(workload);
        console.say("connecting to " + connector.target());
        try (Lease lease = new Lease(options.lease, options.leaseTime, stop);
                Connector.Connection client = connector.connect(workload, Math.max(1, options.rate / options.split.count));
                Vitals vitals = new Vitals();
                Sink progress = options.progress == null ? observation -> {} : new Progress(options.progress, watch)) {
            List<Traffic> traffic = Traffic.of(workload, options.threads, options.split, seed);
            if (!options.noPopulate) {
                populate(client, traffic, vitals, progress);
                settle(client);
            }
            if (!options.populateOnly) {
                load(client, traffic, vitals, progress);
            }
        }
    }

    private void populate(Client client, List<Traffic> traffic, Vitals vitals, Sink progress)
            throws StressException, IOException {
        Population population = workload.population;
        long all = population.continues ? population.rows * options.threads * options.split.count : population.rows;
        Schedule schedule =
                new Schedule(options.populateRate(population.continues), all, options.threads, options.split);
        long rows = schedule.total();
        if (rows == 0) {
            return;
        }
        console.say(String.format(Locale.ROOT, "populating: %,d rows", rows * population.write.rows));
        summary.rows(rows);
        List<Traffic> writes = writes(traffic);
        Recording recording = new Recording(List.of(population.write));
        Tally tally = summary.populate(Instant.now(), population.write, recording.remarks);
        Guard guard = new Guard(options.stopWhen, options.endFile);
        List<Sink> sinks = List.of(tally::add, guard, progress, console);
        RetryingClient patient = new RetryingClient(client);
        // Once too many rows are lost, no further one makes the population whole.
        BooleanSupplier isOver = () -> guard.why() != null || tally.failures() > rows * TOLERATED_LOSS;
        Stage stage = stage(patient, recording, schedule, writes, Stage.Plan.untilDone(), vitals, isOver, sinks);
        stage.run(System.nanoTime());
        summary.retried(patient.retries());
        endIfStopped();
        if (guard.why() != null) {
            throw new StressException(ExitCode.POPULATE, "populating was ended by a stop rule: " + guard.why());
        }
        if (tally.failures() > rows * TOLERATED_LOSS) {
            throw new StressException(
                    ExitCode.POPULATE,
                    tally.failures() + " of " + rows + " rows could not be written, which ended populating: "
                            + tally.errorsByKind(0)
                            + recording.remarks.firstFailure());
        }
        verify(client, tally.failures());
    }

    private void settle(Connector.Connection client) throws StressException {
        if (options.settle.isZero()) {
            return;
        }
        console.say("settling: at most " + options.settle.toSeconds() + " s");
        Map<String, Object> outcome = new Settling(client, stop).await(options.settle);
        summary.settled(outcome);
        console.say("settled: " + Json.line(outcome));
        endIfStopped();
    }

    /** Verifies the populated rows. Where writes failed, rows may be missing, so nothing can be verified. */
    private void verify(Client client, long failures) throws StressException {
        if (workload.population.readBack != null && failures == 0) {
            long asked = new ReadBack(client, workload.population, options.split).verify(seed);
            summary.verified(asked);
            console.say(String.format(Locale.ROOT, "verified: a sample of %,d rows is there", asked));
        }
    }

    private List<Traffic> writes(List<Traffic> traffic) {
        if (!workload.population.continues) {
            return Traffic.populating(workload, options.threads, options.split, seed);
        }
        List<Traffic> writes = new ArrayList<>();
        traffic.forEach(thread -> writes.add(thread.only(workload.population.write)));
        return writes;
    }

    private void load(Client client, List<Traffic> traffic, Vitals vitals, Sink progress)
            throws StressException, IOException {
        long seconds = options.duration.toSeconds();
        Schedule open = new Schedule(options.rate, options.rate * seconds, options.threads, options.split);
        Schedule schedule = options.closed ? open.asClosedLoop() : open;
        Stage.Plan plan = Stage.Plan.timed(options.warmup.toSeconds(), seconds, options.drain.toSeconds());
        Start start = start(progress);
        Instant from = start.instant;
        try (Sink hdr = options.hdr == null ? observation -> {} : new HdrLogs(options.hdr, workload.operations, from, options.warmup);
                Sink csv = options.csv == null ? observation -> {} : new CsvLog(options.csv, workload.operations, from, command)) {
            console.say("timed run: from " + from + ", " + seconds + " s, " + pace(schedule));
            Recording recording = new Recording(workload.operations);
            Guard guard = new Guard(options.stopWhen, options.endFile);
            BooleanSupplier isOver = () -> watch.decided() != null || guard.why() != null;
            Sink sums = summary.timed(from, schedule, recording.remarks);
            List<Sink> sinks = List.of(hdr, csv, sums, watch, guard, progress, console);
            Stage stage = stage(client, recording, schedule, traffic, plan, vitals, isOver, sinks);
            vitals.sample();
            long unfinished = stage.run(start.nanos());
            summary.unfinished(isOver.getAsBoolean() ? 0 : unfinished);
            summary.decided(watch.decided());
            if (guard.why() != null) {
                summary.stopped(guard);
            }
        }
        endIfStopped();
    }

    private static String pace(Schedule schedule) {
        String rate = Json.plain(schedule.rate()) + " ops/s";
        return schedule.isClosed() ? "at most " + rate + ": a CLOSED LOOP, which hides waits" : rate;
    }

    private Start start(Sink progress) throws StressException, IOException {
        if (options.startFile == null) {
            return Start.soon();
        }
        console.say("ready: waiting for " + options.startFile);
        progress.ready();
        return Start.told(options.startFile, stop);
    }

    private Stage stage(
            Client client,
            Recording recording,
            Schedule schedule,
            List<Traffic> traffic,
            Stage.Plan plan,
            Vitals vitals,
            BooleanSupplier isOver,
            List<Sink> sinks) {
        List<Worker> workers = new ArrayList<>();
        for (int thread = 0; thread < options.threads; thread++) {
            workers.add(new Worker(
                    client,
                    schedule.lane(thread),
                    traffic.get(thread),
                    recording,
                    (int) options.concurrency,
                    // A row that is late is still to be there; an operation of the timed run is not sent too late.
                    plan.isTimed() ? options.backlogLimit.toNanos() : Long.MAX_VALUE));
        }
        return new Stage(
                new Load(schedule, workers),
                recording,
                plan,
                options.giveUp.toSeconds(),
                vitals,
                stop,
                isOver,
                sinks);
    }

    private void endIfStopped() throws StressException {
        if (stop.reason() != null) {
            throw stop.reason();
        }
    }
}
