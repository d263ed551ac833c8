package plimsoll.nodes;

import java.net.InetSocketAddress;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The option that names the JVMs that a command asks. */
final class JmxPorts {
    @Option(
            names = "--jmx-port",
            required = true,
            split = ",",
            converter = Port.class,
            paramLabel = "[HOST:]PORT",
            description = "JMX ports, separated by commas, each with an address of its own unless it is 127.0.0.1.")
    List<InetSocketAddress> ports;

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
