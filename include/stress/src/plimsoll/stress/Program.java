package plimsoll.stress;

import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import plimsoll.stress.core.ExitCode;
import plimsoll.stress.core.Protocol;
import plimsoll.stress.core.Version;

/** The program: {@code run}, {@code workloads} and {@code keys}. Each protocol has a {@code Main} that starts it. */
@Command(name = "plimsoll.stress", mixinStandardHelpOptions = true, versionProvider = Version.class)
public final class Program {
    private static final String LOG_LEVEL = "org.slf4j.simpleLogger.defaultLogLevel";

    private Program() {}

    /**
     * Executes the command line and ends the process.
     *
     * @param logLevel of the protocol's libraries; set before any of their classes is used
     */
    public static void main(String logLevel, Supplier<Protocol> made, String[] arguments) {
        if (System.getProperty(LOG_LEVEL) == null) {
            System.setProperty(LOG_LEVEL, logLevel);
        }
        Protocol protocol = made.get();
        CommandLine program = new CommandLine(new Program())
                .addSubcommand(new CommandLine(new RunCommand(protocol)).addMixin("protocol", protocol))
                .addSubcommand(new WorkloadsCommand())
                .addSubcommand(new KeysCommand());
        String description = "An open-loop load generator for " + protocol.databases() + ".";
        program.getCommandSpec().usageMessage().description(description);
        int exitCode = program.execute(arguments);
        if (exitCode != ExitCode.SIGNAL.code) {
            System.exit(exitCode);
        }
    }
}
