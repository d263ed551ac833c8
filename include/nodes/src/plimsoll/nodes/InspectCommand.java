package plimsoll.nodes;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * {@code inspect}: asks running Cassandra JVMs over JMX for their properties. Prints a JSON array with one object for
 * each JVM, in the given order, so one start of this program is enough for all nodes of a machine.
 */
@Command(
        name = "inspect",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        showDefaultValues = true,
        description = "Asks running Cassandra JVMs by JMX for their arguments, flags, collectors and state.")
final class InspectCommand implements Callable<Integer> {
    @Mixin
    JmxPorts jmx = new JmxPorts();

    @Override
    public Integer call() {
        List<Map<String, Object>> described = new ArrayList<>();
        ExitCode exitCode = ExitCode.COMPLETE;
        for (InetSocketAddress port : jmx.ports) {
            Map<String, Object> jvm = inspect(port);
            described.add(jvm);
            if (jvm.get("error") != null) {
                exitCode = ExitCode.UNREACHABLE;
            }
        }
        Answer.print(described);
        return exitCode.code;
    }

    private Map<String, Object> inspect(InetSocketAddress port) {
        Map<String, Object> jvm =
                Answer.object("jmx_host", port.getHostString(), "jmx_port", port.getPort(), "error", null);
        try (JvmInspection inspection = jmx.open(port)) {
            jvm.putAll(inspection.describe());
        } catch (Exception error) {
            jvm.put("error", "no answer from the JMX port: " + error);
        }
        return jvm;
    }
}
