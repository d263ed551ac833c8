package plimsoll.stress.core.distribution;

/**
 * Ranks spread over a range by a hash, so that the popular numbers do not lie side by side. YCSB's: FNV-1a of 64 bits
 * (with YCSB's absolute value), ranks 0 to 10,000,000,000 whatever the size of the range.
 */
public final class Scrambled {
    /** YCSB's last rank. */
    public static final long RANKS = 10_000_000_000L;

    private static final long OFFSET_BASIS = 0xCBF29CE484222325L;
    private static final long PRIME = 1099511628211L;

    private Scrambled() {}

    /** Returns YCSB's hash of a number, which is never negative. */
    public static long hash(long number) {
        long hash = OFFSET_BASIS;
        long rest = number;
        for (int octet = 0; octet < Long.BYTES; octet++) {
            hash = (hash ^ (rest & 0xFF)) * PRIME;
            rest >>= 8;
        }
        return hash == Long.MIN_VALUE ? 0 : Math.abs(hash);
    }
}
