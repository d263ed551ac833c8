package plimsoll.nodes;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * {@code compact}: major compactions of all keyspaces that are not the system's, on all nodes at the same time. Prints
 * a line of JSON with the progress now and then, and at the end one with the result.
 */
@Command(
        name = "compact",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        showDefaultValues = true,
        description = "Compacts the clients' keyspaces on every node at once; its last line is one of JSON.")
final class CompactCommand implements Callable<Integer> {
    private static final long PAUSE = 2_000;

    @Mixin
    JmxPorts jmx = new JmxPorts();

    @Override
    public Integer call() throws InterruptedException {
        Map<InetSocketAddress, Object> done = new ConcurrentHashMap<>();
        Map<InetSocketAddress, String> problems = new ConcurrentHashMap<>();
        Map<InetSocketAddress, Thread> working = new LinkedHashMap<>();
        for (InetSocketAddress port : jmx.ports) {
            Thread thread = new Thread(() -> compact(port, done, problems));
            thread.start();
            working.put(port, thread);
        }
        for (Thread thread : working.values()) {
            for (thread.join(PAUSE); thread.isAlive(); thread.join(PAUSE)) {
                Answer.print(Answer.object("progress", progress(working)));
            }
        }
        String problem = problems.isEmpty() ? null : String.join("; ", problems.values());
        List<Object> nodes = new ArrayList<>();
        jmx.ports.forEach(port -> nodes.add(done.get(port)));
        Answer.print(Answer.object("ended_ms", System.currentTimeMillis(), "nodes", nodes, "error", problem));
        return (problem == null ? ExitCode.COMPLETE : ExitCode.UNREACHABLE).code;
    }

    private void compact(
            InetSocketAddress port, Map<InetSocketAddress, Object> done, Map<InetSocketAddress, String> problems) {
        try (JvmInspection inspection = jmx.open(port)) {
            List<String> keyspaces = inspection.keyspacesOfClients();
            long before = 0;
            long after = 0;
            long start = System.nanoTime();
            for (String keyspace : keyspaces) {
                before += inspection.bytesOnDisk(keyspace);
                inspection.compact(keyspace);
                after += inspection.bytesOnDisk(keyspace);
            }
            done.put(port, Answer.object(
                    "keyspaces", keyspaces, "seconds", Seconds.since(start), "bytes_before", before,
                    "bytes_after", after));
        } catch (Exception error) {
            problems.put(port, port.getHostString() + ": " + error);
        }
    }

    /** What is done so far of the compactions of nodes that are not ready: {@code 127.0.9.1 40 %}. */
    private String progress(Map<InetSocketAddress, Thread> working) {
        StringBuilder told = new StringBuilder();
        working.forEach((port, thread) -> {
            if (thread.isAlive()) {
                told.append(told.length() == 0 ? "" : ", ").append(port.getHostString()).append(done(port));
            }
        });
        return told.toString();
    }

    private String done(InetSocketAddress port) {
        try (JvmInspection inspection = jmx.open(port)) {
            Double share = inspection.shareCompacted();
            return share == null ? "" : String.format(" %.0f %%", 100 * share);
        } catch (Exception unknown) {
            return "";
        }
    }
}
