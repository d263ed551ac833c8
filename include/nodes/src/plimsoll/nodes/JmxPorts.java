package plimsoll.nodes;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.rmi.NotBoundException;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The options that name the JVMs that a command asks. */
final class JmxPorts {
    @Option(
            names = "--jmx-port",
            required = true,
            split = ",",
            converter = Port.class,
            paramLabel = "[HOST:]PORT",
            description = "JMX ports, separated by commas, each with an address of its own unless it is 127.0.0.1.")
    List<InetSocketAddress> ports;

    @Option(
            names = "--password-file",
            paramLabel = "FILE",
            description = "A file `USER PASSWORD`, for each JMX port in their order; none for ports without a password.")
    List<Path> passwordFiles = List.of();

    /** Opens a connection to that one of the ports. The password is in no command line, which every user can read. */
    JvmInspection open(InetSocketAddress port) throws IOException, NotBoundException {
        String[] credentials = passwordFiles.isEmpty() ? null : credentials(ports.indexOf(port));
        return new JvmInspection(port.getHostString(), port.getPort(), credentials);
    }

    private String[] credentials(int number) throws IOException {
        if (number >= passwordFiles.size()) {
            throw new IOException("there is no --password-file for port number " + (number + 1));
        }
        return Files.readString(passwordFiles.get(number)).strip().split(" ", 2);
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
