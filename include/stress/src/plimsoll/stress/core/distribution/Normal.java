package plimsoll.stress.core.distribution;

import java.util.SplittableRandom;

/**
 * The normal distribution, rounded to whole numbers and bounded: a number outside is drawn again, or becomes the bound
 * (as cassandra-stress does it). By Box and Muller, "A note on the generation of random normal deviates" (1958).
 */
public final class Normal implements Numbers {
    /** The greatest deviation of a bell that is drawn again, as a multiple of how many numbers its range has. */
    private static final double WIDEST = 10;

    private final long least;
    private final long most;
    private final double mean;
    private final double deviation;
    private final boolean clamps;

    public Normal(long least, long most, double mean, double deviation, boolean clamps) {
        this.least = least;
        this.most = most;
        this.mean = mean;
        this.deviation = deviation;
        this.clamps = clamps;
        if (!clamps && deviation > WIDEST * (most - least + 1.0)) {
            throw new IllegalArgumentException(
                    "nearly all numbers of a deviation of " + deviation + " lie outside of " + least + " to " + most);
        }
        if (!clamps && (mean < least - 4 * deviation || mean > most + 4 * deviation)) {
            throw new IllegalArgumentException("the mean " + mean + " lies far outside of " + least + " to " + most);
        }
    }

    @Override
    public long next(SplittableRandom random) {
        while (true) {
            long number = Math.round(mean + deviation * gaussian(random));
            if (number >= least && number <= most) {
                return number;
            }
            if (clamps) {
                return Math.max(least, Math.min(most, number));
            }
        }
    }

    /** Draws a number from the standard normal distribution. */
    public static double gaussian(SplittableRandom random) {
        return Math.sqrt(-2 * Math.log(1 - random.nextDouble())) * Math.cos(2 * Math.PI * random.nextDouble());
    }
}
