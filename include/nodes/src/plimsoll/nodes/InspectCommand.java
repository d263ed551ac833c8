package plimsoll.nodes;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

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
    @Option(
            names = "--jmx-port",
            required = true,
            split = ",",
            converter = Port.class,
            paramLabel = "[HOST:]PORT",
            description = "JMX ports, separated by commas, each with an address of its own unless it is 127.0.0.1.")
    List<InetSocketAddress> ports;

    @Override
    public Integer call() {
        List<Map<String, Object>> described = new ArrayList<>();
        ExitCode exitCode = ExitCode.COMPLETE;
        for (InetSocketAddress port : ports) {
            Map<String, Object> jvm = inspect(port);
            described.add(jvm);
            if (jvm.get("error") != null) {
                exitCode = ExitCode.UNREACHABLE;
            }
        }
        Answer.print(described);
        return exitCode.code;
    }

    private static Map<String, Object> inspect(InetSocketAddress port) {
        Map<String, Object> jvm =
                Answer.object("jmx_host", port.getHostString(), "jmx_port", port.getPort(), "error", null);
        try (JvmInspection inspection = new JvmInspection(port.getHostString(), port.getPort())) {
            jvm.putAll(inspection.describe());
        } catch (Exception error) {
            jvm.put("error", "no answer from the JMX port: " + error);
        }
        return jvm;
    }

    static final class Port implements ITypeConverter<InetSocketAddress> {
        @Override
        public InetSocketAddress convert(String text) {
            int colon = text.lastIndexOf(':');
            String host = colon < 0 ? "127.0.0.1" : text.substring(0, colon);
            try {
                return InetSocketAddress.createUnresolved(host, Integer.parseInt(text.substring(colon + 1)));
            } catch (IllegalArgumentException error) {
                throw new TypeConversionException("'" + text + "' is not a port");
            }
        }
    }
}
