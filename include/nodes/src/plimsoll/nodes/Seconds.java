package plimsoll.nodes;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a length of time on the command line: {@code 90s}, {@code 15m}, {@code 2h}. */
final class Seconds implements ITypeConverter<Duration> {
    private static final Pattern LENGTH = Pattern.compile("(\\d{1,9})([smh])");

    /** The time since that reading of the nano clock, s, in tenths. */
    static double since(long start) {
        return Math.round((System.nanoTime() - start) / 1e8) / 10.0;
    }

    @Override
    public Duration convert(String text) {
        Matcher matcher = LENGTH.matcher(text);
        if (!matcher.matches()) {
            throw new TypeConversionException("'" + text + "' is not a length of time such as 90s, 15m or 2h");
        }
        return Duration.parse("PT" + matcher.group(1) + matcher.group(2));
    }
}
