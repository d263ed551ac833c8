package plimsoll.stress.core.distribution;

import java.util.SplittableRandom;

/** One client thread's draws from a distribution. */
@FunctionalInterface
public interface Numbers {
    long next(SplittableRandom random);
}
