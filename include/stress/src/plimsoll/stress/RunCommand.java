package plimsoll.stress;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import plimsoll.stress.core.Connector;
import plimsoll.stress.core.ExitCode;
import plimsoll.stress.core.Protocol;
import plimsoll.stress.core.Run;
import plimsoll.stress.core.RunOptions;
import plimsoll.stress.core.Stop;
import plimsoll.stress.core.StressException;
import plimsoll.stress.core.Summary;
import plimsoll.stress.core.Version;
import plimsoll.stress.core.Workload;
import plimsoll.stress.workloads.WorkloadOptions;

/** {@code run}: puts a load on a database. */
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        showDefaultValues = true,
        sortOptions = false,
        description = "Puts an open-loop load on a database and records response and service times.")
final class RunCommand implements Callable<Integer> {
    /** Time to close the logs after a signal, in milliseconds. */
    private static final long GRACE = 10_000;

    @Mixin
    RunOptions options;

    @Mixin
    WorkloadOptions workloadOptions;

    private final Protocol protocol;

    @Spec
    CommandSpec spec;

    /** @param protocol an object with options, which becomes a mixin of this command */
    RunCommand(Protocol protocol) {
        this.protocol = protocol;
    }

    @Override
    public Integer call() {
        Stop stop = new Stop();
        Thread hook = endOnSignal(stop);
        ExitCode exitCode = execute(stop);
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
            return exitCode.code;
        } catch (IllegalStateException alreadyEnding) {
            return ExitCode.SIGNAL.code;
        }
    }

    private ExitCode execute(Stop stop) {
        Summary summary = new Summary(options, workloadOptions.seed);
        try {
            options.check();
            protocol.check();
            Workload workload = workloadOptions.workload(options.workload);
            Connector connector = protocol.connector(options.split.isFirst());
            new Run(options, connector, workload, workloadOptions.seed, commandLine(), stop, summary).execute();
            return end(summary, ExitCode.COMPLETE, null);
        } catch (StressException error) {
            return end(summary, error.exitCode, error.getMessage());
        } catch (IOException error) {
            return end(summary, ExitCode.OUTPUT, error.toString());
        } catch (OutOfMemoryError error) {
            return end(summary, ExitCode.INTERNAL, "the heap is too small: " + error.getMessage() + "; give it more");
        } catch (RuntimeException error) {
            error.printStackTrace();
            return end(summary, ExitCode.INTERNAL, error.toString());
        }
    }

    private ExitCode end(Summary summary, ExitCode exitCode, String reason) {
        if (reason == null) {
            System.out.println("complete: " + summary.sentence());
        } else {
            System.out.println(summary.sentence());
            System.err.println("not complete: " + reason);
        }
        try {
            if (options.summary != null && exitCode != ExitCode.USAGE) {
                summary.write(options.summary, exitCode, reason);
            }
            return exitCode;
        } catch (IOException error) {
            System.err.println("cannot write the summary: " + error);
            return exitCode == ExitCode.COMPLETE ? ExitCode.OUTPUT : exitCode;
        }
    }

    private String commandLine() {
        return String.join(" ", spec.commandLine().getParseResult().originalArgs());
    }

    private static Thread endOnSignal(Stop stop) {
        Thread main = Thread.currentThread();
        Thread hook = new Thread(() -> {
            stop.request(ExitCode.SIGNAL, "ended by a signal");
            try {
                main.join(GRACE);
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            }
        });
        Runtime.getRuntime().addShutdownHook(hook);
        return hook;
    }
}
