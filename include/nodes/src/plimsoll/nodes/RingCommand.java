package plimsoll.nodes;

import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code ring}: waits until the asked nodes agree on which nodes are up, down and gone, none of them joins, leaves or
 * streams, and every node that has to be up answers at its CQL port. Prints a line of JSON with what is left whenever
 * that changes, and at the end one with what the nodes told.
 */
@Command(
        name = "ring",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        showDefaultValues = true,
        description = "Waits till nodes agree on who is up, down and gone; its last line is one of JSON.")
final class RingCommand implements Callable<Integer> {
    private static final long PAUSE = 250;
    private static final int CONNECT = 2_000;

    @Mixin
    JmxPorts jmx = new JmxPorts();

    @Option(names = "--up", required = true, split = ",", description = "Addresses of nodes that have to be up.")
    List<String> up;

    @Option(names = "--down", split = ",", description = "Addresses of nodes that have to be seen as down.")
    List<String> down = List.of();

    @Option(names = "--gone", split = ",", description = "Addresses of nodes that must be in no list.")
    List<String> gone = List.of();

    @Option(names = "--cql-port", description = "CQL port of every node.")
    int cqlPort = 9042;

    @Option(names = "--timeout", converter = Seconds.class, description = "Longest wait.")
    Duration timeout = Duration.ofMinutes(30);

    @Override
    public Integer call() throws InterruptedException {
        long start = System.nanoTime();
        String told = null;
        for (int looks = 1; ; looks++) {
            List<Map<String, Object>> rings = new ArrayList<>();
            String left = look(rings);
            if (left == null || System.nanoTime() - start >= timeout.toNanos()) {
                Answer.print(Answer.object(
                        "ended_ms", System.currentTimeMillis(), "waited_s", Seconds.since(start), "looks", looks,
                        "nodes", rings, "error", left));
                return (left == null ? ExitCode.COMPLETE : ExitCode.UNREACHABLE).code;
            }
            if (!left.equals(told)) {
                Answer.print(Answer.object("progress", left));
                told = left;
            }
            Thread.sleep(PAUSE);
        }
    }

    /** What keeps the ring from being as wanted; null if nothing does. Adds what each node tells to the list. */
    private String look(List<Map<String, Object>> rings) {
        for (InetSocketAddress port : jmx.ports) {
            try (JvmInspection inspection = jmx.open(port)) {
                Map<String, Object> ring = inspection.ring();
                ring.put("node", port.getHostString());
                rings.add(ring);
                String left = left(ring);
                if (left != null) {
                    return port.getHostString() + " " + left;
                }
            } catch (Exception error) {
                return port.getHostString() + ": no answer from the JMX port: " + error;
            }
        }
        for (String host : up) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(host, cqlPort), CONNECT);
            } catch (Exception error) {
                return host + " does not listen for clients: " + error.getMessage();
            }
        }
        return null;
    }

    private String left(Map<String, Object> ring) {
        String moving = moving(ring);
        if (moving != null) {
            return moving;
        }
        List<?> live = (List<?>) ring.get("live");
        List<?> unreachable = (List<?>) ring.get("unreachable");
        for (String host : up) {
            if (!live.contains(host)) {
                return "does not see " + host + " up";
            }
        }
        for (String host : down) {
            if (!unreachable.contains(host)) {
                return "does not see " + host + " down";
            }
        }
        for (String host : gone) {
            if (live.contains(host) || unreachable.contains(host) || ((List<?>) ring.get("members")).contains(host)) {
                return "still knows " + host;
            }
        }
        return null;
    }

    /** Why the node is at work on the ring: its own mode, nodes that join or leave, streams. Null if it is not. */
    private static String moving(Map<String, Object> ring) {
        for (String list : List.of("joining", "leaving", "moving")) {
            if (!((List<?>) ring.get(list)).isEmpty()) {
                return "sees " + list + ": " + ring.get(list) + ", received " + ring.get("received_bytes") + " bytes";
            }
        }
        if (!"NORMAL".equals(ring.get("mode"))) {
            return "is " + ring.get("mode");
        }
        return (int) ring.get("streams") > 0 ? "has " + ring.get("streams") + " streams" : null;
    }
}
