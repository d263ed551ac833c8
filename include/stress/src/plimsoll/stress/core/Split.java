package plimsoll.stress.core;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Which one of several generators this is. Together they put on one load: they deal out the positions of one schedule,
 * the client threads and the rows to populate in turn, so that nothing is left out and nothing is done twice.
 *
 * <p>So {@code count} generators of {@code t} threads each do exactly what one of {@code count × t} threads would do.
 */
public final class Split {
    /** The only generator. */
    public static final Split NONE = new Split(0, 1);

    private static final Pattern TEXT = Pattern.compile("(\\d{1,4})/(\\d{1,4})");

    /** From 0. */
    final int index;
    /** How many generators there are. */
    final int count;

    Split(int index, int count) {
        this.index = index;
        this.count = count;
    }

    /** {@code 2/3}: the second of three. */
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

    /** Whether it makes what others find: keyspace and tables. */
    public boolean isFirst() {
        return index == 0;
    }

    /** How many of the first {@code whole} positions are this generator's. */
    long of(long whole) {
        return whole <= index ? 0 : (whole - index + count - 1) / count;
    }

    /** Where this generator's position {@code n} lies among all. */
    long place(long n) {
        return n * count + index;
    }

    /** {@code 2/3}. */
    @Override
    public String toString() {
        return (index + 1) + "/" + count;
    }

    /** For the command line. */
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
