package plimsoll.stress.core;

import static plimsoll.stress.core.StressException.require;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The options of {@code run}: tlp-stress' where tlp-stress has them, under its names and with its defaults. */
public final class RunOptions {
    @Parameters(index = "0", paramLabel = "WORKLOAD", description = "One of those that `workloads` lists.")
    public String workload;

    @Option(
            names = {"--threads", "-t"},
            description = "Threads.")
    int threads = 1;

    @Option(
            names = {"--concurrency", "-c"},
            converter = Units.Count.class,
            description = "Operations under way at once, for each thread.")
    long concurrency = 100;

    @Option(
            names = "--rate",
            required = true,
            converter = Units.Count.class,
            description = "Operations a second, of all generators together.")
    long rate;

    @Option(
            names = "--closed",
            description = "A closed loop, as many publications measured: each thread sends an operation when there is "
                    + "room for it among -c, at most at its part of --rate. Times count from the send, and HIDE how long "
                    + "operations waited for that.")
    boolean closed;

    @Option(
            names = "--split",
            converter = Split.Converter.class,
            description = "Which of several generators this is, 2/3 the second of three: they share --rate, the schedule "
                    + "and the rows to populate, and each has its own -t threads. The first makes the tables.")
    public Split split = Split.NONE;

    @Option(
            names = "--start-file",
            description = "Wait for this file before the timed run, and start when it says: {\"start\": TIME, \"local\": "
                    + "TIME}, the same instant by the clock that all generators' logs go by and by this host's own.")
    Path startFile;

    @Option(
            names = {"--duration", "-d"},
            required = true,
            converter = Units.Seconds.class,
            description = "Length of the timed run: 150m, 90s, 2h, 1h30m.")
    Duration duration;

    @Option(
            names = "--response-time-warmup",
            converter = Units.Seconds.class,
            description = "The first part of the timed run, which is not to be judged.")
    Duration warmup = Duration.ZERO;

    @Option(
            names = "--populate-rate",
            converter = Units.Count.class,
            description = "Rate of populating, of all generators together; 0: as fast as the concurrency cap allows. Default: --rate with "
                    + "BasicTimeSeries, 0 otherwise.")
    Long populateRate;

    @Option(
            names = "--settle",
            converter = Units.Seconds.class,
            description = "After populating, longest wait until the nodes have no compactions left.")
    Duration settle = Duration.ZERO;

    @Option(names = "--no-populate", description = "Take the rows as they are.")
    boolean noPopulate;

    @Option(names = "--populate-only", description = "End after populating.")
    boolean populateOnly;

    @Option(
            names = "--backlog-limit",
            converter = Units.Seconds.class,
            description = "Latest send after the intended start; an operation later than that counts as overflow.")
    Duration backlogLimit = Duration.ofSeconds(60);

    @Option(
            names = "--drain",
            converter = Units.Seconds.class,
            description = "Longest wait for missing answers after the timed run; later ones count as unfinished.")
    Duration drain = Duration.ofSeconds(30);

    @Option(
            names = "--give-up",
            converter = Units.Seconds.class,
            description = "End the run after so long without any answer; 0s: never.")
    Duration giveUp = Duration.ofSeconds(60);

    @Option(
            names = "--watch",
            converter = WatchedLevel.Converter.class,
            split = ",",
            description = "Service levels to judge while the run goes on, for the progress file: "
                    + "PERCENTILE/INTERVAL/BOUND, with /OPERATION unless it is of all; with commas.")
    List<WatchedLevel> watch = List.of();

    @Option(
            names = "--stop-decided",
            description = "End the timed run once an interval of --watch has missed and so many are judged; 0: never.")
    int stopDecided;

    @Option(
            names = "--stop-when",
            converter = StopRule.Converter.class,
            split = ",",
            description = "Rules that end the run, also while it populates: errors/WITHIN/SHARE%% of the operations that "
                    + "fail, PERCENTILE/WITHIN/BOUND of the response times; with commas. Without any answer for so long "
                    + "it ends too.")
    List<StopRule> stopWhen = List.of();

    @Option(
            names = "--end-file",
            description = "End the run once this file is there, as a rule of --stop-when that another of several "
                    + "generators has broken: {\"rule\": PLACE, \"why\": WORDS, \"host\": NAME}.")
    Path endFile;

    @Option(
            names = "--lease",
            description = "End the run once nobody has written this file anew for --lease-time: whoever watches does so.")
    Path lease;

    @Option(names = "--lease-time", converter = Units.Seconds.class, description = "See --lease.")
    Duration leaseTime = Duration.ofSeconds(60);

    @Option(names = "--csv", description = "CSV file.")
    Path csv;

    @Option(names = "--hdr", description = "Beginning of the histogram logs' names.")
    Path hdr;

    @Option(names = "--progress", description = "File for a line of JSON every second.")
    Path progress;

    @Option(names = "--summary", description = "File for the final JSON document.")
    public Path summary;

    /** @throws StressException with {@link ExitCode#USAGE} if values do not fit together */
    public void check() throws StressException {
        require(!(noPopulate && populateOnly), "--no-populate and --populate-only leave nothing to do");
        require(rate > 0, "--rate must be above 0: an open-loop schedule needs a rate");
        require(rate <= 10_000_000, "--rate must be at most 10M");
        require(!duration.isZero(), "-d must be above 0");
        require(warmup.compareTo(duration) < 0, "--response-time-warmup must be shorter than -d");
        require(threads > 0 && threads <= 1_024, "-t must be between 1 and 1024");
        require(stopDecided == 0 || !watch.isEmpty(), "--stop-decided needs --watch");
        require(stopDecided == 0 || split.count == 1, "--stop-decided is for one generator: others would go on");
        require(concurrency > 0 && concurrency <= 32_768, "-c must be between 1 and 32768");
        for (Path file : new Path[] {csv, hdr, progress, summary}) {
            require(file == null || writable(file), "the directory of " + file + " does not exist or is not writable");
        }
    }

    /** @param paced whether populating uses the rate of the timed run unless it has its own, as in tlp-stress */
    long populateRate(boolean paced) {
        return populateRate != null ? populateRate : paced ? rate : 0;
    }

    private static boolean writable(Path file) {
        return Files.isWritable(file.toAbsolutePath().getParent());
    }
}
