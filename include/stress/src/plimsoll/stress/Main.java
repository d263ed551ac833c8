package plimsoll.stress;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The program: {@code run}, {@code probe} and {@code inspect}. */
@Command(
        name = "plimsoll.stress",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        description = "An open-loop load generator for Apache Cassandra, and what a campaign asks of its nodes.",
        subcommands = {RunCommand.class, ProbeCommand.class, InspectCommand.class})
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        if (System.getProperty("org.slf4j.simpleLogger.defaultLogLevel") == null) {
            System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
        }
        int exitCode = new CommandLine(new Main()).execute(arguments);
        if (exitCode != ExitCode.SIGNAL.code) {
            System.exit(exitCode);
        }
    }
}
