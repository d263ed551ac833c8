package plimsoll.nodes;

/** The exit codes of the node tool. Exit code 1 means a fault of the program, 2 a wrong command line. */
enum ExitCode {
    /** Every node answered, and the wanted state is reached. {@code settle} ends so also when its time is over. */
    COMPLETE(0),
    /** A node or a JVM did not answer, or the cluster was not whole in time. */
    UNREACHABLE(3);

    final int code;

    ExitCode(int code) {
        this.code = code;
    }
}
