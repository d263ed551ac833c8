package plimsoll.nodes;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code settle}: waits until no node has a running or waiting compaction. If time is over before that, it prints how
 * many compactions are left.
 */
@Command(
        name = "settle",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        showDefaultValues = true,
        description = "Waits until no node has a compaction left; prints one line of JSON.")
final class SettleCommand implements Callable<Integer> {
    private static final long PAUSE = 1_000;
    /** The end of a compaction can make another one due, so nodes must have none this many times in a row. */
    private static final int LOOKS = 3;

    @Mixin
    JmxPorts jmx = new JmxPorts();

    @Option(names = "--timeout", converter = Seconds.class, description = "Longest wait.")
    Duration timeout = Duration.ofMinutes(30);

    @Override
    public Integer call() throws InterruptedException {
        long start = System.nanoTime();
        Map<String, Object> left = new LinkedHashMap<>();
        int quiet = 0;
        while (quiet < LOOKS) {
            String problem = look(left);
            if (problem != null) {
                return answer(false, left, start, problem);
            }
            quiet = left.values().stream().allMatch(count -> count.equals(0L)) ? quiet + 1 : 0;
            if (quiet < LOOKS) {
                if (System.nanoTime() - start >= timeout.toNanos()) {
                    return answer(false, left, start, null);
                }
                Thread.sleep(PAUSE);
            }
        }
        return answer(true, left, start, null);
    }

    /** Puts the number of compactions of each node into the map. Null, or which JVM did not answer and why. */
    private String look(Map<String, Object> left) {
        for (InetSocketAddress port : jmx.ports) {
            try (JvmInspection inspection = jmx.open(port)) {
                left.put(port.getHostString(), inspection.pendingCompactions());
            } catch (Exception error) {
                return port.getHostString() + ": no answer from the JMX port: " + error;
            }
        }
        return null;
    }

    private static int answer(boolean settled, Map<String, Object> left, long start, String problem) {
        Answer.print(Answer.object(
                "settled", settled, "left", left, "waited_s", Seconds.since(start), "error", problem));
        return problem == null ? ExitCode.COMPLETE.code : ExitCode.UNREACHABLE.code;
    }
}
