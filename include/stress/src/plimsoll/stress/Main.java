package plimsoll.stress;

import plimsoll.stress.cql.CqlOptions;

/** The program for databases that speak CQL. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        Program.main("warn", CqlOptions::new, arguments);
    }
}
