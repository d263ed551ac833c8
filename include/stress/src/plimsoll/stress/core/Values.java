package plimsoll.stress.core;

import java.util.SplittableRandom;

/** One client thread's values of a field: Long, Double, String, ByteBuffer, UUID, Instant or {@link #NOW}. */
@FunctionalInterface
public interface Values {
    /** Stands for the time at which the statement is made, in the type that the database requires. */
    Object NOW = new Object() {
        @Override
        public String toString() {
            return "now";
        }
    };

    Object next(SplittableRandom random);
}
