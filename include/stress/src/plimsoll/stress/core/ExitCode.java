package plimsoll.stress.core;

/** The exit codes of the program. */
public enum ExitCode {
    /** The whole schedule was carried out. Errors of operations are a result, not a failure. */
    COMPLETE(0),
    /** A fault of the program itself. */
    INTERNAL(1),
    /** The command line was refused; nothing was started. */
    USAGE(2),
    /** There was no connection to the database, or its nodes did not agree on the schema in time. */
    UNREACHABLE(3),
    /** A keyspace, table or statement could not be created or prepared. */
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
