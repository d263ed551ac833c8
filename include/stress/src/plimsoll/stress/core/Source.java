package plimsoll.stress.core;

/** Where a field's values come from. Fields that share a source share its values' order, also across operations. */
@FunctionalInterface
public interface Source {
    /** The values of one client thread. Called once for each thread, whatever the number of fields that share it. */
    Values open(Lane lane);
}
