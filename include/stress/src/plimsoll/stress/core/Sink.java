package plimsoll.stress.core;

import java.io.Closeable;
import java.io.IOException;

/** Something that takes what was observed every second: a log file, the console, a sum. */
interface Sink extends Closeable {
    void accept(Observation observation) throws IOException;

    /** Everything is done that comes before the timed run, whose start is still to be told. */
    default void ready() throws IOException {}

    @Override
    default void close() throws IOException {}
}
