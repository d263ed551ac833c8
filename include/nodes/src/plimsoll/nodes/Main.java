package plimsoll.nodes;

import java.io.ObjectInputFilter;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The node tool. {@code probe} and {@code drop} use CQL, all other commands JMX. */
@Command(
        name = "plimsoll.nodes",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        description = "Asks the nodes of a Cassandra cluster what a campaign needs to know of them, and changes them.",
        subcommands = {
            ProbeCommand.class, InspectCommand.class, SettleCommand.class, SizeCommand.class, DropCommand.class,
            CompactCommand.class, RepairCommand.class, DecommissionCommand.class, RingCommand.class
        })
public final class Main {
    /**
     * The classes that answers over JMX consist of. If a node has ended, another user of its host may listen in its
     * place, and what he answers must not be able to have other classes loaded.
     */
    private static final String ANSWERS =
            "java.lang.*;java.lang.reflect.*;java.net.*;java.security.*;java.util.*;java.util.concurrent.*;java.rmi.**;"
                    + "javax.management.**;javax.security.auth.**;com.sun.jmx.**;com.sun.proxy.*;sun.rmi.**;!*";

    private Main() {}

    public static void main(String[] arguments) {
        if (System.getProperty("org.slf4j.simpleLogger.defaultLogLevel") == null) {
            System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
        }
        ObjectInputFilter.Config.setSerialFilter(ObjectInputFilter.Config.createFilter(ANSWERS));
        System.exit(new CommandLine(new Main()).execute(arguments));
    }
}
