package plimsoll.stress.core;

import java.io.Closeable;
import java.io.IOException;

/** Receives the observation of every second: a log file, the console, a sum. */
interface Sink extends Closeable {
    void accept(Observation observation) throws IOException;

    /** Called when everything before the timed run is done and the generator waits for its start. */
    default void ready() throws IOException {}

    @Override
    default void close() throws IOException {}
}
