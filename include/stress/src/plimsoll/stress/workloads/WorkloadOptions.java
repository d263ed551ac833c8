package plimsoll.stress.workloads;

import static plimsoll.stress.core.StressException.require;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;
import plimsoll.stress.core.ExitCode;
import plimsoll.stress.core.Options;
import plimsoll.stress.core.PartitionKeys;
import plimsoll.stress.core.StressException;
import plimsoll.stress.core.Units;
import plimsoll.stress.core.Workload;
import plimsoll.stress.core.WorkloadType;

/** The options of commands that take a workload: tlp-stress' for BasicTimeSeries, and any by name. */
public final class WorkloadOptions {
    @Option(names = "--id", description = "BasicTimeSeries: first part of every partition key. Default: 001.")
    String id;

    @Option(
            names = {"--partitions", "-p"},
            converter = Units.Count.class,
            description = "BasicTimeSeries: highest number in a partition key. Default: 1M.")
    Long partitions;

    @Option(
            names = {"--partitiongenerator", "--pg"},
            description = "BasicTimeSeries: choice of partition keys: sequence, random, normal. Default: random.")
    String partitionGenerator;

    @Option(
            names = {"--readrate", "--reads", "-r"},
            description = "BasicTimeSeries: share of reads, 0 to 1. Default: 0.01.")
    Double readShare;

    @Option(
            names = "--populate",
            converter = Units.Count.class,
            description = "BasicTimeSeries: rows to write first, for each thread.")
    Long populate;

    @Option(
            names = {"--option", "-o"},
            paramLabel = "NAME=VALUE",
            description = "An option of the workload, as `workloads` lists them; can be repeated.")
    Map<String, String> byName = new LinkedHashMap<>();

    @Option(names = "--options", description = "JSON file with an object of the workload's options.")
    Path file;

    @Option(names = "--seed", description = "Seed of the mix, of random keys and of texts.")
    public long seed = 1;

    /** @throws StressException with {@link ExitCode#USAGE} for an unknown name, and for options that do not fit */
    public Workload workload(String name) throws StressException {
        require(partitions == null || partitions > 0, "-p must be above 0");
        require(
                partitionGenerator == null || PartitionKeys.CHOICES.contains(partitionGenerator),
                "--pg must be one of " + PartitionKeys.CHOICES);
        require(readShare == null || (readShare >= 0 && readShare <= 1), "-r must be between 0 and 1");
        try {
            WorkloadType type = Workloads.named(name);
            return type.make(Options.of(name, type.options(), given(type))).active();
        } catch (IllegalArgumentException error) {
            throw new StressException(ExitCode.USAGE, error.getMessage());
        }
    }

    private Map<String, Object> given(WorkloadType type) throws StressException {
        Map<String, Object> given = new LinkedHashMap<>(fromFile());
        given.putAll(byName);
        put(given, "id", id);
        put(given, "partitions", partitions);
        put(given, "partition_generator", partitionGenerator);
        put(given, "read_share", readShare);
        put(given, "populate", populate);
        if (type.options().stream().anyMatch(option -> option.name.equals("seed"))) {
            given.putIfAbsent("seed", seed);
        }
        return given;
    }

    @SuppressWarnings("unchecked")
    private Map<String, Object> fromFile() throws StressException {
        if (file == null) {
            return Map.of();
        }
        try {
            return new ObjectMapper().readValue(file.toFile(), LinkedHashMap.class);
        } catch (IOException error) {
            throw new StressException(ExitCode.USAGE, "cannot read " + file + ": " + error.getMessage());
        }
    }

    private static void put(Map<String, Object> given, String name, Object value) {
        if (value != null) {
            given.put(name, value);
        }
    }
}
