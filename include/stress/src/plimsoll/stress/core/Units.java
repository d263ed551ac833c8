package plimsoll.stress.core;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Numbers with units on the command line, as tlp-stress writes them: {@code 100M}, {@code 1h30m}. */
public final class Units {
    private static final Pattern COUNT = Pattern.compile("(\\d{1,19}(?:\\.\\d{1,19})?)\\s*([kmgb]?)");
    private static final Pattern DURATION = Pattern.compile("(?:(\\d+)d)?(?:(\\d+)h)?(?:(\\d+)m)?(?:(\\d+)s)?");
    private static final long[] SECONDS = {86_400, 3_600, 60, 1};

    private Units() {}

    /** A count: {@code 200000}, {@code 20k}, {@code 1.5M}, {@code 1B} (powers of 1000); as definitions have them. */
    public static long count(String text) {
        Matcher matcher = COUNT.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + text + "' is not a count such as 200000, 20k, 100M or 1B");
        }
        BigDecimal number = new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(multiplier(matcher.group(2))));
        try {
            return number.longValueExact();
        } catch (ArithmeticException error) {
            throw new IllegalArgumentException("'" + text + "' is no whole number, or too large", error);
        }
    }

    private static long multiplier(String suffix) {
        switch (suffix) {
            case "k":
                return 1_000L;
            case "m":
                return 1_000_000L;
            case "b":
            case "g":
                return 1_000_000_000L;
            default:
                return 1L;
        }
    }

    /** A duration in whole seconds: {@code 150m}, {@code 90s}, {@code 1h30m}, {@code 1d 2h}. */
    public static Duration duration(String text) {
        String compact = text.replace(" ", "").toLowerCase(Locale.ROOT);
        Matcher matcher = DURATION.matcher(compact);
        if (compact.isEmpty() || !matcher.matches()) {
            throw new IllegalArgumentException("'" + text + "' is not a duration such as 150m, 90s, 2h or 1h30m");
        }
        long seconds = 0;
        for (int unit = 0; unit < SECONDS.length; unit++) {
            String digits = matcher.group(unit + 1);
            seconds += digits == null ? 0 : Math.multiplyExact(Long.parseLong(digits), SECONDS[unit]);
        }
        return Duration.ofSeconds(seconds);
    }

    /** {@link #count} for picocli. */
    public static final class Count implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            try {
                return count(text);
            } catch (IllegalArgumentException error) {
                throw new TypeConversionException(error.getMessage());
            }
        }
    }

    /** {@link #duration} for picocli. */
    public static final class Seconds implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            try {
                return duration(text);
            } catch (IllegalArgumentException | ArithmeticException error) {
                throw new TypeConversionException(error.getMessage());
            }
        }
    }
}
