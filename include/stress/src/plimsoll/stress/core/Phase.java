package plimsoll.stress.core;

import java.util.Locale;

/** What the generator is doing. */
enum Phase {
    CONNECT,
    POPULATE,
    /** Everything is done that comes before the timed run: it waits to be told when to start. */
    READY,
    WARMUP,
    MEASURE,
    /** After the last intended start: the answers that are still missing. */
    DRAIN;

    /** The name in JSON and on the console. */
    final String label = name().toLowerCase(Locale.ROOT);
}
