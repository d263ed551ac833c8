package plimsoll.stress;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import plimsoll.stress.core.ExitCode;
import plimsoll.stress.core.Field;
import plimsoll.stress.core.Split;
import plimsoll.stress.core.StressException;
import plimsoll.stress.core.Traffic;
import plimsoll.stress.core.Units;
import plimsoll.stress.core.Version;
import plimsoll.stress.core.Workload;
import plimsoll.stress.workloads.WorkloadOptions;

/** {@code keys}: prints a workload's operations and values as the timed run would send them. Needs no database. */
@Command(
        name = "keys",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        showDefaultValues = true,
        description = "Prints a workload's next operations with their keys and values: a line of tab-separated texts for "
                + "each row, thread after thread. Where an operation has several statements, the second text is the one "
                + "that is sent.")
final class KeysCommand implements Callable<Integer> {
    @Option(names = "--workload", required = true, description = "One of those that `workloads` lists.")
    String name;

    @Option(names = "--count", converter = Units.Count.class, description = "Operations of each thread.")
    long count = 10;

    @Option(
            names = {"--threads", "-t"},
            description = "Threads.")
    int threads = 1;

    @Option(
            names = "--split",
            converter = Split.Converter.class,
            description = "Which of several generators, 2/3 the second of three, each with --threads.")
    Split split = Split.NONE;

    @Mixin
    WorkloadOptions options;

    @Override
    public Integer call() {
        try {
            Workload workload = options.workload(name);
            List<Traffic> traffic = Traffic.of(workload, threads, split, options.seed);
            traffic.forEach(thread -> print(thread, workload));
            return ExitCode.COMPLETE.code;
        } catch (StressException error) {
            System.err.println(error.getMessage());
            return error.exitCode.code;
        }
    }

    private void print(Traffic thread, Workload workload) {
        StringBuilder lines = new StringBuilder();
        if (workload.population.continues) {
            Traffic writes = thread.only(workload.population.write);
            for (long n = 0; n < workload.population.rows; n++) {
                append(lines, "populate", writes.next());
            }
        }
        for (long n = 0; n < count; n++) {
            Traffic.Draw draw = thread.next();
            append(lines, draw.operation.name, draw);
        }
        System.out.print(lines);
    }

    private static void append(StringBuilder lines, String what, Traffic.Draw draw) {
        List<Field> fields = draw.operation.fields;
        boolean isOneOfSeveral = draw.operation.commands.size() > 1;
        String statements = isOneOfSeveral ? String.join("; ", draw.operation.statements(draw.command)) : "";
        for (Object[] row : draw.rows) {
            lines.append(what).append(isOneOfSeveral ? "\t" : "").append(statements);
            for (int f = 0; f < row.length; f++) {
                if (!isOneOfSeveral || hasMarker(statements, fields.get(f).name)) {
                    lines.append('\t').append(fields.get(f).name).append('=').append(shown(row[f]));
                }
            }
            lines.append('\n');
        }
    }

    /** Returns whether one of a workload's own statements, in which no text looks like a marker, sends that value. */
    private static boolean hasMarker(String statements, String name) {
        return Pattern.compile(":" + name + "\\b").matcher(statements).find();
    }

    private static Object shown(Object value) {
        if (!(value instanceof ByteBuffer)) {
            return value;
        }
        ByteBuffer bytes = ((ByteBuffer) value).duplicate();
        StringBuilder hexadecimal = new StringBuilder("0x");
        while (bytes.hasRemaining()) {
            hexadecimal.append(String.format("%02x", bytes.get()));
        }
        return hexadecimal;
    }
}
