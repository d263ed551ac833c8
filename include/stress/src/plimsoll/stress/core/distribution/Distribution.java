package plimsoll.stress.core.distribution;

import plimsoll.stress.core.Lane;

/** A distribution of whole numbers. */
@FunctionalInterface
public interface Distribution {
    /** The draws of one client thread. */
    Numbers open(Lane lane);

    /** Draws that depend on nothing but the thread's source of chance. */
    static Distribution of(Numbers numbers) {
        return lane -> numbers;
    }
}
