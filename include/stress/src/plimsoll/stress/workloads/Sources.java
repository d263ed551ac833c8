package plimsoll.stress.workloads;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import plimsoll.stress.core.Field;
import plimsoll.stress.core.RandomText;
import plimsoll.stress.core.Source;
import plimsoll.stress.core.Values;
import plimsoll.stress.core.distribution.Distribution;
import plimsoll.stress.core.distribution.Distributions;
import plimsoll.stress.core.distribution.Normal;
import plimsoll.stress.core.distribution.Numbers;
import plimsoll.stress.core.distribution.Sequence;

/** Makes values of fields from distributions. */
final class Sources {
    /** The present time. */
    static final Source NOW = lane -> random -> Values.NOW;

    /** The greatest number of letters or bytes of a value. */
    private static final int LONGEST = 1 << 20;

    private static final RandomText TEXT = new RandomText(1);
    private static final ByteBuffer BYTES = bytes();

    private Sources() {}

    /** Converts each number of a distribution to a value. */
    static Source of(Distribution distribution, LongFunction<Object> made) {
        return lane -> {
            Numbers numbers = distribution.open(lane);
            return random -> made.apply(numbers.next(random));
        };
    }

    static Source numbers(Distribution distribution) {
        return of(distribution, number -> number);
    }

    /** Uniform numbers from {@code least} to {@code most}. */
    static Distribution uniform(long least, long most) {
        return Distribution.of(Distributions.uniform(least, most));
    }

    /** The number of a row: 0 to {@code rows} − 1 while populating. */
    static Distribution row(long rows) {
        return new Sequence(0, Math.max(1, rows) - 1);
    }

    /** Counts up from a number without end; threads take turns. */
    static Distribution from(long first) {
        return new Sequence(first, Long.MAX_VALUE - 1);
    }

    static Source letters(Distribution lengths) {
        return letters("", lengths);
    }

    /** A prefix and random capital letters; the distribution gives their number. */
    static Source letters(String prefix, Distribution lengths) {
        return lane -> {
            Numbers numbers = lengths.open(lane);
            return random -> {
                int length = length(numbers.next(random));
                String letters = TEXT.next(random, length, length);
                return prefix.isEmpty() ? letters : prefix + letters;
            };
        };
    }

    /** Random bytes; the distribution gives their number. */
    static Source bytes(Distribution lengths) {
        return lane -> {
            Numbers numbers = lengths.open(lane);
            return random -> slice(random, length(numbers.next(random)));
        };
    }

    /** Normally distributed numbers with fractions. */
    static Source gaussian(double mean, double deviation) {
        return lane -> random -> mean + deviation * Normal.gaussian(random);
    }

    static Field field(String name, Source source) {
        return new Field(name, source);
    }

    private static int length(long drawn) {
        if (drawn > LONGEST) {
            throw new IllegalArgumentException(drawn + " letters or bytes are more than " + LONGEST);
        }
        return (int) drawn;
    }

    private static ByteBuffer slice(SplittableRandom random, int length) {
        int from = random.nextInt(BYTES.capacity() - length + 1);
        ByteBuffer slice = BYTES.duplicate();
        slice.position(from).limit(from + length);
        return slice;
    }

    private static ByteBuffer bytes() {
        byte[] bytes = new byte[LONGEST];
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) random.nextInt();
        }
        return ByteBuffer.wrap(bytes).asReadOnlyBuffer();
    }
}
