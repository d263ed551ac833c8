package plimsoll.stress.core;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * The share of this generator, where several generators produce one load together. They divide the positions of one
 * schedule, the client threads and the rows to populate in turn, so that nothing is left out or done twice.
 *
 * <p>So {@code count} generators of {@code t} threads each do exactly what one generator of {@code count × t} threads
 * would do.
 */
public final class Split {
    /** The only generator. */
    public static final Split NONE = new Split(0, 1);

    private static final Pattern TEXT = Pattern.compile("(\\d{1,4})/(\\d{1,4})");

    /** The number of this generator, from 0. */
    final int index;
    /** The number of generators. */
    final int count;

    Split(int index, int count) {
        this.index = index;
        this.count = count;
    }

    /** Parses {@code 2/3}: the second of three. */
    static Split parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (matcher.matches()) {
            int number = Integer.parseInt(matcher.group(1));
            int count = Integer.parseInt(matcher.group(2));
            if (number >= 1 && number <= count) {
                return new Split(number - 1, count);
            }
        }
        throw new IllegalArgumentException("'" + text + "' is not a part such as 1/3, 2/3 or 3/3");
    }

    /** Returns whether this generator creates keyspace and tables for the others. */
    public boolean isFirst() {
        return index == 0;
    }

    /** Returns the number of this generator's positions among the first {@code whole} ones. */
    long of(long whole) {
        return whole <= index ? 0 : (whole - index + count - 1) / count;
    }

    /** Returns the number, among all positions, of this generator's position {@code n}. */
    long place(long n) {
        return n * count + index;
    }

    /** Returns the text form, such as {@code 2/3}. */
    @Override
    public String toString() {
        return (index + 1) + "/" + count;
    }

    /** Parses a split on the command line. */
    public static final class Converter implements ITypeConverter<Split> {
        @Override
        public Split convert(String text) {
            try {
                return parse(text);
            } catch (IllegalArgumentException error) {
                throw new TypeConversionException(error.getMessage());
            }
        }
    }
}
