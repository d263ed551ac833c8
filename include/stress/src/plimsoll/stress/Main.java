package plimsoll.stress;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import plimsoll.stress.core.ExitCode;
import plimsoll.stress.core.Version;

/** The program: {@code run}, {@code workloads} and {@code keys}. */
@Command(
        name = "plimsoll.stress",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        description = "An open-loop load generator for databases that speak CQL.",
        subcommands = {RunCommand.class, WorkloadsCommand.class, KeysCommand.class})
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
