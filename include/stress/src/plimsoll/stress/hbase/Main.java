package plimsoll.stress.hbase;

import plimsoll.stress.Program;

/** The program for HBase. */
public final class Main {
    private Main() {}

    /** Begins with a log of errors alone: at lower levels the client writes a stack trace for every attempt that fails. */
    public static void main(String[] arguments) {
        Program.main("error", HBaseOptions::new, arguments);
    }
}
