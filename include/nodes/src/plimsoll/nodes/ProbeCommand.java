package plimsoll.nodes;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code probe}: waits until a cluster is whole.
 *
 * <p>A cluster is whole if every node answers CQL, knows all the others, has the same schema version as the others, and
 * has coordinated a write that every node acknowledged. Prints one line of JSON in any case.
 */
@Command(
        name = "probe",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        showDefaultValues = true,
        description = "Waits till every node is up, knows the others, agrees on the schema and takes a write at ALL.")
final class ProbeCommand implements Callable<Integer> {
    private static final long PAUSE = 250;

    @Option(names = "--host", required = true, description = "Addresses of all nodes, separated by commas.")
    String hosts;

    @Option(names = "--port", description = "CQL port of every node.")
    int port = 9042;

    @Option(names = "--nodes", description = "Number of nodes in the cluster. Default: as many as --host names.")
    Integer nodes;

    @Option(names = "--timeout", converter = Seconds.class, description = "Longest wait for all of it.")
    Duration timeout = Duration.ofSeconds(60);

    @Override
    public Integer call() throws InterruptedException {
        List<InetSocketAddress> addresses = new ArrayList<>();
        for (String host : hosts.split(",")) {
            addresses.add(new InetSocketAddress(host.trim(), port));
        }
        int expected = nodes == null ? addresses.size() : nodes;
        long deadline = System.nanoTime() + timeout.toNanos();
        List<NodeProbe> probes = new ArrayList<>();
        addresses.forEach(address -> probes.add(new NodeProbe(address)));
        try {
            String problem = awaitWhole(probes, expected, deadline);
            print(probes, problem);
            return (problem == null ? ExitCode.COMPLETE : ExitCode.UNREACHABLE).code;
        } finally {
            probes.forEach(NodeProbe::close);
        }
    }

    /**
     * Null once the cluster is whole, otherwise the problem that is left at the deadline. Each step is repeated until
     * it works, and only then comes the next, because a write fails while some node does not have the table yet.
     */
    private static String awaitWhole(List<NodeProbe> probes, int expected, long deadline) throws InterruptedException {
        ScratchWrite write = new ScratchWrite(expected);
        NodeProbe first = probes.get(0);
        Supplier<String> agreed = () -> agreement(probes, expected);
        List<Supplier<String>> steps = List.of(
                agreed,
                () -> write.prepare(first),
                agreed,
                () -> write.through(probes),
                () -> write.clear(first),
                agreed);
        for (Supplier<String> step : steps) {
            for (String problem = step.get(); problem != null; problem = step.get()) {
                if (System.nanoTime() >= deadline) {
                    return problem;
                }
                Thread.sleep(PAUSE);
            }
        }
        return null;
    }

    private static String agreement(List<NodeProbe> probes, int expected) {
        Object schema = null;
        for (NodeProbe probe : probes) {
            String problem = probe.look(expected - 1);
            if (problem != null) {
                return problem;
            }
            if (schema != null && !schema.equals(probe.schemaVersion())) {
                return probe.address() + " has another schema version than " + probes.get(0).address();
            }
            schema = probe.schemaVersion();
        }
        return null;
    }

    private static void print(List<NodeProbe> probes, String problem) {
        List<Map<String, Object>> described = new ArrayList<>();
        probes.forEach(probe -> described.add(probe.describe()));
        Answer.print(Answer.object("ready", problem == null, "reason", problem, "nodes", described));
    }
}
