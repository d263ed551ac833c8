package plimsoll.stress.core.distribution;

import plimsoll.stress.core.Lane;

/** A distribution of whole numbers. */
@FunctionalInterface
public interface Distribution {
    /** The draws of one client thread. */
    Numbers open(Lane lane);

    /** Makes a distribution whose draws depend only on the thread's random generator. */
    static Distribution of(Numbers numbers) {
        return lane -> numbers;
    }
}
