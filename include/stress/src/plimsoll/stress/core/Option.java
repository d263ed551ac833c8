package plimsoll.stress.core;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** One option of a workload or of a distribution: its allowed values and its meaning. */
public final class Option {
    /** The type of a value. */
    public enum Type {
        /** A whole number; text such as 100M means 100,000,000. */
        COUNT,
        NUMBER,
        TEXT,
        BOOLEAN,
        /** One of a few texts. */
        CHOICE,
        /** A list of statements, or one. */
        STATEMENTS,
        /** A list of operations with keys of their own. */
        OPERATIONS,
        /** How rows are populated, with keys of its own. */
        POPULATE,
        /** The values for the markers of a statement. */
        BIND
    }

    public final String name;
    public final Type type;
    /** The default value; null if there is none, so that the option must be given. */
    public final Object standard;

    public final double least;
    public final double most;
    public final List<String> choices;
    public final String about;
    /** Whether the option may be left out although it has no default value. */
    public final boolean optional;

    private Option(
            String name, Type type, Object standard, double least, double most, List<String> choices, String about) {
        this(name, type, standard, least, most, choices, about, false);
    }

    private Option(
            String name,
            Type type,
            Object standard,
            double least,
            double most,
            List<String> choices,
            String about,
            boolean optional) {
        this.name = name;
        this.type = type;
        this.standard = standard;
        this.least = least;
        this.most = most;
        this.choices = choices;
        this.about = about;
        this.optional = optional;
    }

    /** A whole number of at least {@code least}. */
    public static Option count(String name, Long standard, long least, String about) {
        return new Option(name, Type.COUNT, standard, least, 1e18, List.of(), about);
    }

    public static Option count(String name, Long standard, long least, long most, String about) {
        return new Option(name, Type.COUNT, standard, least, most, List.of(), about);
    }

    public static Option number(String name, Double standard, double least, double most, String about) {
        return new Option(name, Type.NUMBER, standard, least, most, List.of(), about);
    }

    public static Option text(String name, String standard, String about) {
        return new Option(name, Type.TEXT, standard, Double.NaN, Double.NaN, List.of(), about);
    }

    public static Option bool(String name, boolean standard, String about) {
        return new Option(name, Type.BOOLEAN, standard, Double.NaN, Double.NaN, List.of(), about);
    }

    public static Option choice(String name, String standard, List<String> choices, String about) {
        return new Option(name, Type.CHOICE, standard, Double.NaN, Double.NaN, choices, about);
    }

    /** Makes an option whose value has keys of its own. */
    public static Option nested(String name, Type type, String about) {
        return new Option(name, type, null, Double.NaN, Double.NaN, List.of(), about);
    }

    /** Returns the same option, but optional. */
    public Option orNone() {
        return new Option(name, type, standard, least, most, choices, about, true);
    }

    /** Converts a value to this option's type. Throws IllegalArgumentException for a value that does not fit. */
    Object read(Object value) {
        switch (type) {
            case COUNT:
                return within(value instanceof Number ? whole((Number) value) : (Number) Units.count(text(value)));
            case NUMBER:
                return within(value instanceof Number ? ((Number) value).doubleValue() : Double.valueOf(text(value)));
            case BOOLEAN:
                return value instanceof Boolean ? value : Boolean.valueOf(truth(text(value)));
            case CHOICE:
                return chosen(text(value));
            case TEXT:
                return text(value);
            default:
                return value;
        }
    }

    /** Describes the option for JSON. Parts that do not apply are left out. */
    public Map<String, Object> describe() {
        Map<String, Object> described = Json.object("name", name, "type", type.name().toLowerCase(Locale.ROOT));
        if (standard != null) {
            described.put("default", standard);
        }
        if (standard == null && !optional) {
            described.put("required", true);
        }
        if (!Double.isNaN(least)) {
            described.put("minimum", type == Type.COUNT ? (Object) (long) least : (Object) least);
            described.put("maximum", type == Type.COUNT ? (Object) (long) most : (Object) most);
        }
        if (!choices.isEmpty()) {
            described.put("choices", choices);
        }
        described.put("doc", about);
        return described;
    }

    private static Long whole(Number value) {
        if (value.doubleValue() != Math.rint(value.doubleValue())) {
            throw new IllegalArgumentException(value + " is no whole number");
        }
        return value.longValue();
    }

    private Number within(Number value) {
        if (!(value.doubleValue() >= least && value.doubleValue() <= most)) {
            throw new IllegalArgumentException(value + " is not between " + shown(least) + " and " + shown(most));
        }
        return value;
    }

    private Object shown(double limit) {
        return type == Type.COUNT ? (Object) (long) limit : (Object) limit;
    }

    private String chosen(String value) {
        if (!choices.contains(value)) {
            throw new IllegalArgumentException("'" + value + "' is none of " + choices);
        }
        return value;
    }

    private static String truth(String value) {
        if (!value.equals("true") && !value.equals("false")) {
            throw new IllegalArgumentException("'" + value + "' is neither true nor false");
        }
        return value;
    }

    private static String text(Object value) {
        if (value instanceof Map || value instanceof List || value == null) {
            throw new IllegalArgumentException("a single value must stand here");
        }
        return String.valueOf(value);
    }
}
