package plimsoll.nodes;

/** What a process' exit code says; 1 is a fault of the program, 2 a command line that makes no sense. */
enum ExitCode {
    /** All that was asked is answered, and as wished. */
    COMPLETE(0),
    /** A node or a JVM did not answer, or the nodes did not agree in time. */
    UNREACHABLE(3);

    final int code;

    ExitCode(int code) {
        this.code = code;
    }
}
