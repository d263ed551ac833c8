package plimsoll.stress.core;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** Writes maps, iterables, numbers, booleans, strings and nulls as JSON. */
public final class Json {
    private static final JsonFactory FACTORY = new JsonFactory();

    private Json() {}

    /** An ordered map of alternating keys and values. */
    public static Map<String, Object> object(Object... keysAndValues) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            object.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return object;
    }

    /** A number rounded to three decimals: enough for seconds, milliseconds and rates. */
    static double rounded(double number) {
        return Math.round(number * 1e3) / 1e3;
    }

    /** Returns a whole number as a long, and any other number rounded to three decimals. */
    static Number plain(double number) {
        return number == Math.rint(number) ? (Number) (long) number : (Number) rounded(number);
    }

    /** One line of JSON, without the line's end. */
    public static String line(Object value) {
        return text(value, false);
    }

    /** Indented JSON with a line's end. */
    public static String document(Object value) {
        return text(value, true) + "\n";
    }

    private static String text(Object value, boolean indented) {
        StringWriter text = new StringWriter();
        try (JsonGenerator generator = FACTORY.createGenerator(text)) {
            if (indented) {
                generator.useDefaultPrettyPrinter();
            }
            write(generator, value);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return text.toString();
    }

    private static void write(JsonGenerator generator, Object value) throws IOException {
        if (value instanceof Map) {
            generator.writeStartObject();
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                generator.writeFieldName(String.valueOf(entry.getKey()));
                write(generator, entry.getValue());
            }
            generator.writeEndObject();
        } else if (value instanceof Iterable) {
            generator.writeStartArray();
            for (Object element : (Iterable<?>) value) {
                write(generator, element);
            }
            generator.writeEndArray();
        } else {
            scalar(generator, value);
        }
    }

    private static void scalar(JsonGenerator generator, Object value) throws IOException {
        if (value == null) {
            generator.writeNull();
        } else if (value instanceof Boolean) {
            generator.writeBoolean((Boolean) value);
        } else if (value instanceof Double) {
            generator.writeNumber((Double) value);
        } else if (value instanceof Number) {
            generator.writeNumber(((Number) value).longValue());
        } else {
            generator.writeString(value.toString());
        }
    }
}
