package plimsoll.stress.core;

import java.util.Locale;

/** The phases of a run. */
enum Phase {
    CONNECT,
    POPULATE,
    /** Everything before the timed run is done. The generator waits to be told when to start. */
    READY,
    WARMUP,
    MEASURE,
    /** After the last intended start: waiting for the missing answers. */
    DRAIN;

    /** The name in JSON and on the console. */
    final String label = name().toLowerCase(Locale.ROOT);
}
