package plimsoll.nodes;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The node tool. {@code probe} and {@code drop} use CQL; {@code inspect}, {@code settle} and {@code size} use JMX. */
@Command(
        name = "plimsoll.nodes",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        description = "Asks the nodes of a Cassandra cluster what a campaign needs to know of them.",
        subcommands = {ProbeCommand.class, InspectCommand.class, SettleCommand.class, SizeCommand.class, DropCommand.class})
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        if (System.getProperty("org.slf4j.simpleLogger.defaultLogLevel") == null) {
            System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
        }
        System.exit(new CommandLine(new Main()).execute(arguments));
    }
}
