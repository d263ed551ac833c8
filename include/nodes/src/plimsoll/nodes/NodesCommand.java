package plimsoll.nodes;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import picocli.CommandLine.Mixin;

/**
 * A command that does something to nodes, to all of them at the same time. Prints a line of JSON with the progress now
 * and then, and at the end one with what each node told.
 */
abstract class NodesCommand implements Callable<Integer> {
    private static final long PAUSE = 2_000;

    @Mixin
    JmxPorts jmx = new JmxPorts();

    /** Does it to one node, and returns what that tells of it at the end. */
    abstract Map<String, Object> change(JvmInspection node) throws Exception;

    /** How far a node is that is being changed: {@code 40 %}; empty if it does not tell. */
    String progress(JvmInspection node) throws Exception {
        return "";
    }

    @Override
    public final Integer call() throws InterruptedException {
        Map<InetSocketAddress, Object> done = new ConcurrentHashMap<>();
        Map<InetSocketAddress, String> problems = new ConcurrentHashMap<>();
        Map<InetSocketAddress, Thread> working = new LinkedHashMap<>();
        for (InetSocketAddress port : jmx.ports) {
            Thread thread = new Thread(() -> change(port, done, problems));
            thread.start();
            working.put(port, thread);
        }
        for (Thread thread : working.values()) {
            for (thread.join(PAUSE); thread.isAlive(); thread.join(PAUSE)) {
                String told = progress(working);
                if (!told.isEmpty()) {
                    Answer.print(Answer.object("progress", told));
                }
            }
        }
        String problem = problems.isEmpty() ? null : String.join("; ", problems.values());
        List<Object> nodes = new ArrayList<>();
        jmx.ports.forEach(port -> nodes.add(done.get(port)));
        Answer.print(Answer.object("ended_ms", System.currentTimeMillis(), "nodes", nodes, "error", problem));
        return (problem == null ? ExitCode.COMPLETE : ExitCode.UNREACHABLE).code;
    }

    private void change(
            InetSocketAddress port, Map<InetSocketAddress, Object> done, Map<InetSocketAddress, String> problems) {
        try (JvmInspection node = jmx.open(port)) {
            done.put(port, change(node));
        } catch (Exception error) {
            problems.put(port, port.getHostString() + ": " + error);
        }
    }

    /** How far the nodes are that are not done: {@code 127.0.9.1 40 %}. */
    private String progress(Map<InetSocketAddress, Thread> working) {
        List<String> told = new ArrayList<>();
        working.forEach((port, thread) -> {
            if (thread.isAlive()) {
                String progress = progress(port);
                if (!progress.isEmpty()) {
                    told.add(port.getHostString() + " " + progress);
                }
            }
        });
        return String.join(", ", told);
    }

    private String progress(InetSocketAddress port) {
        try (JvmInspection node = jmx.open(port)) {
            return progress(node);
        } catch (Exception unknown) {
            return "";
        }
    }
}
