package plimsoll.stress;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code inspect}: asks running Cassandra JVMs on this machine, by JMX, what they are. Prints a JSON array. */
@Command(
        name = "inspect",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = "Asks running Cassandra JVMs by JMX for their arguments, flags, collectors and state.")
final class InspectCommand implements Callable<Integer> {
    @Option(
            names = "--jmx-port",
            required = true,
            split = ",",
            description = "JMX ports on the address, separated by commas.")
    List<Integer> ports;

    @Option(names = "--jmx-host", description = "Address of the JMX ports.")
    String host = "127.0.0.1";

    @Override
    public Integer call() {
        List<Map<String, Object>> described = new ArrayList<>();
        ExitCode exitCode = ExitCode.COMPLETE;
        for (int port : ports) {
            Map<String, Object> jvm = Json.object("jmx_port", port, "error", null);
            try (JvmInspection inspection = new JvmInspection(host, port)) {
                jvm.putAll(inspection.describe());
            } catch (Exception error) {
                jvm.put("error", "no answer from the JMX port: " + error);
                exitCode = ExitCode.UNREACHABLE;
            }
            described.add(jvm);
        }
        System.out.println(Json.line(described));
        return exitCode.code;
    }
}
