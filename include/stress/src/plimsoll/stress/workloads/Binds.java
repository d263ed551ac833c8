package plimsoll.stress.workloads;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import plimsoll.stress.core.Field;
import plimsoll.stress.core.Lane;
import plimsoll.stress.core.Option;
import plimsoll.stress.core.Options;
import plimsoll.stress.core.Source;
import plimsoll.stress.core.Values;
import plimsoll.stress.core.distribution.Distribution;
import plimsoll.stress.core.distribution.Distributions;
import plimsoll.stress.core.distribution.Scrambled;

/** The values bound to the markers of a statement: {@code {distribution: uniform, max: 1M, as: letters}}. */
final class Binds {
    /** The keys of a bind besides the parameters of its distribution. */
    static final List<Option> OPTIONS = List.of(
            Option.choice(
                    "as",
                    "number",
                    List.of("number", "hash", "letters", "bytes"),
                    "What becomes of the number: itself in the column's type, YCSB's hash of it, or so many random letters "
                            + "or bytes"),
            Option.text("prefix", "", "Text before the number, its hash or the letters, which makes it a text"));

    /** The name that stands for the time at which the statement is made, instead of a distribution. */
    static final String NOW = "now";

    private static final Lane FIRST = new Lane(0, 1, 0);

    private Binds() {}

    /** Reads the field of each marker. Throws IllegalArgumentException with the name of the marker. */
    static List<Field> read(Object given) {
        List<Field> fields = new ArrayList<>();
        if (given == null) {
            return fields;
        }
        for (Map.Entry<?, ?> bind : mapping(given, "bind").entrySet()) {
            String marker = String.valueOf(bind.getKey());
            if (fields.stream().anyMatch(field -> field.name.equalsIgnoreCase(marker))) {
                throw new IllegalArgumentException(
                        "bind." + marker + ": is bound twice: the database reads it in small letters");
            }
            try {
                fields.add(field(marker, mapping(bind.getValue(), "the marker's value")));
            } catch (IllegalArgumentException error) {
                throw new IllegalArgumentException("bind." + marker + ": " + error.getMessage(), error);
            }
        }
        return fields;
    }

    static Map<?, ?> mapping(Object value, String what) {
        if (!(value instanceof Map)) {
            throw new IllegalArgumentException(what + " must have keys of its own");
        }
        return (Map<?, ?>) value;
    }

    private static Field field(String marker, Map<?, ?> given) {
        if (NOW.equals(given.get(Distributions.NAME))) {
            return new Field(marker, Sources.NOW, List.of(Values.NOW));
        }
        Map<String, Object> distribution = new LinkedHashMap<>();
        Map<String, Object> form = new LinkedHashMap<>();
        given.forEach((key, value) -> {
            boolean own = OPTIONS.stream().anyMatch(option -> option.name.equals(key));
            (own ? form : distribution).put(String.valueOf(key), value);
        });
        Distribution numbers = Distributions.of(distribution);
        Options options = Options.of("bind", OPTIONS, form);
        List<Object> examples = new ArrayList<>();
        for (long bound : Distributions.bounds(distribution)) {
            examples.add(source(Distribution.of(random -> bound), options).open(FIRST).next(new SplittableRandom(1)));
        }
        return new Field(marker, source(numbers, options), examples);
    }

    private static Source source(Distribution numbers, Options form) {
        String prefix = form.text("prefix");
        switch (form.text("as")) {
            case "letters":
                return Sources.letters(prefix, numbers);
            case "bytes":
                if (!prefix.isEmpty()) {
                    throw new IllegalArgumentException("bytes have no prefix: write `as: letters`, or leave it out");
                }
                return Sources.bytes(numbers);
            case "hash":
                return Sources.of(numbers, number -> named(prefix, Scrambled.hash(number)));
            default:
                return Sources.of(numbers, number -> named(prefix, number));
        }
    }

    private static Object named(String prefix, long number) {
        return prefix.isEmpty() ? (Object) number : prefix + number;
    }
}
