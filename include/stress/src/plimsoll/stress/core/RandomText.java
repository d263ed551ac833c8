package plimsoll.stress.core;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/**
 * Random capital letters, made once and then handed out in slices. The supply is so much larger than a compressed
 * block of a table (16 to 64 kB) that slices in one block hardly ever overlap, and compress as fresh letters would.
 */
public final class RandomText {
    private static final int SUPPLY = 1 << 20;

    private final String letters;

    public RandomText(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        byte[] supply = new byte[SUPPLY];
        for (int i = 0; i < SUPPLY; i++) {
            supply[i] = (byte) random.nextInt('A', 'Z' + 1);
        }
        letters = new String(supply, StandardCharsets.US_ASCII);
    }

    /** A text of {@code shortest} to {@code longest} letters, both included, every length as likely. */
    public String next(SplittableRandom random, int shortest, int longest) {
        int length = random.nextInt(shortest, longest + 1);
        int from = random.nextInt(SUPPLY - length + 1);
        return letters.substring(from, from + length);
    }
}
