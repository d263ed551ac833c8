package plimsoll.stress.core;

import java.util.List;
import java.util.Random;
import java.util.function.LongSupplier;

/**
 * One thread's partition keys {@code <id>.<thread>.<n>}, chosen as tlp-stress chooses them. Populating and the timed
 * run share one generator, so that a sequence goes on where populating ended.
 */
public final class PartitionKeys {
    public static final List<String> CHOICES = List.of("sequence", "random", "normal");

    private final String prefix;
    private final LongSupplier numbers;

    /**
     * @param choice {@code sequence}: 0, 1, … partitions, then 0 again; {@code random}: uniform; {@code normal}: a
     *     bell around the middle with a standard deviation of an eighth of the range
     */
    PartitionKeys(String choice, String id, int thread, long partitions, long seed) {
        prefix = id + "." + thread + ".";
        numbers = numbers(choice, partitions, new Random(seed));
    }

    /** The source of all threads' keys. */
    public static Source source(String choice, String id, long partitions) {
        return lane -> {
            PartitionKeys keys = new PartitionKeys(choice, id, (int) lane.index, partitions, lane.seed);
            return random -> keys.next();
        };
    }

    String next() {
        return prefix + numbers.getAsLong();
    }

    private static LongSupplier numbers(String choice, long partitions, Random random) {
        switch (choice) {
            case "sequence":
                return new Sequence(partitions);
            case "random":
                return () -> (long) (random.nextDouble() * partitions);
            case "normal":
                return () -> normal(partitions, random);
            default:
                throw new IllegalArgumentException(choice);
        }
    }

    private static long normal(long partitions, Random random) {
        double middle = partitions / 2.0;
        while (true) {
            double number = middle + random.nextGaussian() * middle / 4;
            if (number >= 0 && number <= partitions) {
                return (long) number;
            }
        }
    }

    private static final class Sequence implements LongSupplier {
        private final long last;
        private long next;

        Sequence(long last) {
            this.last = last;
        }

        @Override
        public long getAsLong() {
            if (next > last) {
                next = 0;
            }
            return next++;
        }
    }
}
