package plimsoll.stress.core.distribution;

import java.util.SplittableRandom;

/**
 * Ranks 0, 1, … of which rank i is drawn nearly in proportion to 1 / (i + 1)^constant. By the algorithm of J. Gray et
 * al., "Quickly generating billion-record synthetic databases" (SIGMOD 1994), as YCSB has it: exact for the first two
 * ranks, by a continuous curve for the others.
 */
public final class Zipf {
    /** The greatest number of terms that are added one by one; an integral replaces all further terms. */
    private static final long SUMMED = 100_000;

    private final double constant;
    private final double alpha;
    private final double zetaOfTwo;
    private final double curve;
    private long items;
    private double zeta;
    private double eta;

    /** @param constant above 0 and below 1 */
    public Zipf(long items, double constant) {
        this(items, constant, zeta(items, constant));
    }

    private Zipf(long items, double constant, double zeta) {
        this.constant = constant;
        this.alpha = 1 / (1 - constant);
        this.zetaOfTwo = zeta(2, constant);
        this.curve = Math.pow(2.0 / items, 1 - constant);
        this.items = items;
        this.zeta = zeta;
        this.eta = eta();
    }

    /** Returns the ranks 0 to {@code last} with the zeta of one rank less, as YCSB's scrambled distribution has them. */
    static Zipf ofRanksTo(long last, double constant) {
        return new Zipf(last + 1, constant, zeta(last, constant));
    }

    public long next(SplittableRandom random) {
        double u = random.nextDouble();
        double uz = u * zeta;
        if (uz < 1) {
            return 0;
        }
        if (uz < 1 + Math.pow(0.5, constant)) {
            return Math.min(1, items - 1);
        }
        return Math.min(items - 1, (long) (items * Math.pow(eta * u - eta + 1, alpha)));
    }

    /** Adds one rank. As in YCSB, the curve stays that of the first number of ranks; only zeta grows. */
    public void grow() {
        items++;
        zeta += 1 / Math.pow(items, constant);
        eta = eta();
    }

    private double eta() {
        return (1 - curve) / (1 - zetaOfTwo / zeta);
    }

    /** The sum of 1 / i^constant for i from 1 to {@code items}; for many, by the formula of Euler and Maclaurin. */
    static double zeta(long items, double constant) {
        double sum = 0;
        long summed = Math.min(items, SUMMED);
        for (long i = 1; i <= summed; i++) {
            sum += Math.pow(i, -constant);
        }
        if (items > summed) {
            double a = summed;
            double b = items;
            sum += (Math.pow(b, 1 - constant) - Math.pow(a, 1 - constant)) / (1 - constant);
            sum += (Math.pow(b, -constant) - Math.pow(a, -constant)) / 2;
            sum += constant * (Math.pow(a, -constant - 1) - Math.pow(b, -constant - 1)) / 12;
        }
        return sum;
    }
}
