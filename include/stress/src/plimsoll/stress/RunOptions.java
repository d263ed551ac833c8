package plimsoll.stress;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The options of {@code run}: tlp-stress' where tlp-stress has them, under its names and with its defaults. */
final class RunOptions {
    @Parameters(index = "0", paramLabel = "WORKLOAD", description = "BasicTimeSeries.")
    String workload;

    @Option(names = "--host", description = "Contact points, separated by commas.")
    String hosts = "127.0.0.1";

    @Option(names = "--port", description = "CQL port of every node.")
    int port = 9042;

    @Option(names = "--dc", description = "Data centre to send to. Default: that of the contact points.")
    String dataCentre;

    @Option(names = "--core-connections", description = "Connections to each node. Default: by the rate.")
    int connections;

    @Option(names = "--cl", converter = Consistency.class, description = "Consistency level of reads and writes.")
    ConsistencyLevel consistency = DefaultConsistencyLevel.LOCAL_ONE;

    @Option(names = "--request-timeout", converter = Units.Seconds.class, description = "Longest wait for an answer.")
    Duration requestTimeout = Duration.ofSeconds(12);

    @Option(names = "--keyspace", description = "Keyspace to use.")
    String keyspace = "tlp_stress";

    @Option(names = "--rf", description = "Replication factor of a new keyspace.")
    int replicationFactor = 3;

    @Option(names = "--replication", description = "Replication of a new keyspace as CQL; goes before --rf.")
    String replication;

    @Option(names = "--drop", description = "Drop the keyspace first.")
    boolean drop;

    @Option(names = "--no-schema", description = "Take keyspace and table as they are.")
    boolean noSchema;

    @Option(names = "--id", description = "First part of every partition key.")
    String id = "001";

    @Option(
            names = {"--partitions", "-p"},
            converter = Units.Count.class,
            description = "Highest number in a partition key.")
    long partitions = 1_000_000;

    @Option(
            names = {"--partitiongenerator", "--pg"},
            description = "Choice of partition keys: sequence, random, normal.")
    String partitionGenerator = "random";

    @Option(
            names = {"--readrate", "--reads", "-r"},
            description = "Share of reads, 0 to 1.")
    double readShare = 0.01;

    @Option(
            names = {"--threads", "-t"},
            description = "Threads.")
    int threads = 1;

    @Option(
            names = {"--concurrency", "-c"},
            converter = Units.Count.class,
            description = "Operations under way at once, for each thread.")
    long concurrency = 100;

    @Option(names = "--rate", required = true, converter = Units.Count.class, description = "Operations a second.")
    long rate;

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

    @Option(names = "--populate", converter = Units.Count.class, description = "Rows to write first, for each thread.")
    long populate;

    @Option(
            names = "--populate-rate",
            converter = Units.Count.class,
            description = "Rate of populating; 0: as fast as the concurrency cap allows. Default: --rate.")
    Long populateRate;

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

    @Option(names = "--seed", description = "Seed of the mix, of random keys and of texts.")
    long seed = 1;

    @Option(names = "--csv", description = "CSV file.")
    Path csv;

    @Option(names = "--hdr", description = "Beginning of the histogram logs' names.")
    Path hdr;

    @Option(names = "--progress", description = "File for a line of JSON every second.")
    Path progress;

    @Option(names = "--summary", description = "File for the final JSON document.")
    Path summary;

    /** @throws StressException with {@link ExitCode#USAGE} if values do not fit together */
    void check() throws StressException {
        require(Workload.NAMES.contains(workload), "no workload is called '" + workload + "': " + Workload.NAMES);
        require(PartitionKeys.CHOICES.contains(partitionGenerator), "--pg must be one of " + PartitionKeys.CHOICES);
        require(rate > 0, "--rate must be above 0: an open-loop schedule needs a rate");
        require(rate <= 10_000_000, "--rate must be at most 10M");
        require(!duration.isZero(), "-d must be above 0");
        require(warmup.compareTo(duration) < 0, "--response-time-warmup must be shorter than -d");
        require(threads > 0 && threads <= 1_024, "-t must be between 1 and 1024");
        require(concurrency > 0 && concurrency <= 32_768, "-c must be between 1 and 32768");
        require(partitions > 0, "-p must be above 0");
        require(readShare >= 0 && readShare <= 1, "-r must be between 0 and 1");
        require(replicationFactor > 0, "--rf must be above 0");
        require(connections >= 0, "--core-connections must be above 0");
        require(!requestTimeout.isZero(), "--request-timeout must be above 0");
        require(keyspace.matches("[a-z][a-z0-9_]{0,47}"), "--keyspace must be a plain lower-case name");
        require(port > 0 && port < 65_536, "--port must be between 1 and 65535");
        for (Path file : new Path[] {csv, hdr, progress, summary}) {
            require(file == null || writable(file), "the directory of " + file + " does not exist or is not writable");
        }
    }

    long populateRate() {
        return populateRate == null ? rate : populateRate;
    }

    private static boolean writable(Path file) {
        return Files.isWritable(file.toAbsolutePath().getParent());
    }

    private static void require(boolean fits, String message) throws StressException {
        if (!fits) {
            throw new StressException(ExitCode.USAGE, message);
        }
    }

    static final class Consistency implements ITypeConverter<ConsistencyLevel> {
        @Override
        public ConsistencyLevel convert(String text) {
            return DefaultConsistencyLevel.valueOf(text);
        }
    }
}
