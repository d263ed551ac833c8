package plimsoll.nodes;

import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code size}: makes nodes write a keyspace's rows to disk, and prints how many bytes they take there. */
@Command(
        name = "size",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        showDefaultValues = true,
        description = "Flushes a keyspace on each node; prints one line of JSON with its bytes on disk by node.")
final class SizeCommand implements Callable<Integer> {
    @Mixin
    JmxPorts jmx = new JmxPorts();

    @Option(names = "--keyspace", required = true, description = "The keyspace, all of its tables together.")
    String keyspace;

    @Override
    public Integer call() {
        Map<String, Object> bytes = new LinkedHashMap<>();
        for (InetSocketAddress port : jmx.ports) {
            try (JvmInspection inspection = jmx.open(port)) {
                inspection.flush(keyspace);
                bytes.put(port.getHostString(), inspection.bytesOnDisk(keyspace));
            } catch (Exception error) {
                Answer.print(Answer.object("bytes", bytes, "error", port.getHostString() + ": " + error));
                return ExitCode.UNREACHABLE.code;
            }
        }
        Answer.print(Answer.object("bytes", bytes, "error", null));
        return ExitCode.COMPLETE.code;
    }
}
