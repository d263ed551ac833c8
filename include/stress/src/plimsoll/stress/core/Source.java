package plimsoll.stress.core;

/**
 * The source of a field's values. Fields with the same source share the order of its values, also across operations.
 */
@FunctionalInterface
public interface Source {
    /** Returns the values of one client thread. Called once for each thread, however many fields share the source. */
    Values open(Lane lane);
}
