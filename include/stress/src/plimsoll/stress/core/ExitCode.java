package plimsoll.stress.core;

/** What a process' exit code says. */
public enum ExitCode {
    /** The whole schedule was worked through; errors of operations are a result, not a failure. */
    COMPLETE(0),
    /** A fault of the program itself. */
    INTERNAL(1),
    /** The command line was refused; nothing was started. */
    USAGE(2),
    /** No connection to the database, or no agreement of its nodes in time. */
    UNREACHABLE(3),
    /** Keyspace, table or statements could not be made. */
    SCHEMA(4),
    /** Too many rows were lost while populating. */
    POPULATE(5),
    /** The timed run ended before its time. */
    INCOMPLETE(6),
    /** An output file could not be written. */
    OUTPUT(7),
    /** Ended by a signal; the process' code is then the JVM's: 128 + the signal's number. */
    SIGNAL(128);

    public final int code;

    ExitCode(int code) {
        this.code = code;
    }
}
