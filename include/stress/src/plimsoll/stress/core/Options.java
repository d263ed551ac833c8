package plimsoll.stress.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The values of options: the given ones, and the defaults of the others. */
public final class Options {
    private final Map<String, Object> values;

    private Options(Map<String, Object> values) {
        this.values = values;
    }

    /**
     * Reads values for these options.
     *
     * @param where the owner of the options, for messages: {@code YcsbA}, or {@code distribution zipfian}
     * @throws IllegalArgumentException for an unknown name, a value that does not fit, or one that is missing
     */
    public static Options of(String where, List<Option> options, Map<String, ?> given) {
        Map<String, Object> values = new LinkedHashMap<>();
        List<String> names = new ArrayList<>();
        for (Option option : options) {
            names.add(option.name);
            Object value = given.get(option.name);
            try {
                values.put(option.name, value == null ? standard(option) : option.read(value));
            } catch (IllegalArgumentException error) {
                throw new IllegalArgumentException(where + ": " + option.name + ": " + error.getMessage(), error);
            }
        }
        for (String name : given.keySet()) {
            if (!names.contains(name)) {
                throw new IllegalArgumentException(where + " has no option '" + name + "'; it has " + names);
            }
        }
        return new Options(values);
    }

    public boolean has(String name) {
        return values.get(name) != null;
    }

    public long count(String name) {
        return (Long) values.get(name);
    }

    /** Returns a whole number that fits an int. */
    public int small(String name) {
        return Math.toIntExact(count(name));
    }

    public double number(String name) {
        return ((Number) values.get(name)).doubleValue();
    }

    public String text(String name) {
        return (String) values.get(name);
    }

    public boolean truth(String name) {
        return (Boolean) values.get(name);
    }

    /** Returns a value unchanged. */
    public Object raw(String name) {
        return values.get(name);
    }

    private static Object standard(Option option) {
        if (option.standard == null && !option.optional) {
            throw new IllegalArgumentException("is missing: " + option.about);
        }
        return option.standard;
    }
}
