package plimsoll.stress.core;

/** A command ended early. The message gives the reason; the exit code gives it to programs. */
public final class StressException extends Exception {
    private static final long serialVersionUID = 1L;

    public final ExitCode exitCode;

    public StressException(ExitCode exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    public StressException(ExitCode exitCode, String message, Throwable cause) {
        super(message + ": " + reason(cause), cause);
        this.exitCode = exitCode;
    }

    /** Ends a command as wrongly called, unless what was given fits. */
    public static void require(boolean fits, String message) throws StressException {
        if (!fits) {
            throw new StressException(ExitCode.USAGE, message);
        }
    }

    /** Returns the innermost message of a chain of causes, with its type. */
    private static String reason(Throwable cause) {
        Throwable innermost = cause;
        while (innermost.getCause() != null && innermost.getCause() != innermost) {
            innermost = innermost.getCause();
        }
        return innermost.getClass().getSimpleName() + " " + innermost.getMessage();
    }
}
