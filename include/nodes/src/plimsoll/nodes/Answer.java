package plimsoll.nodes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.Map;

/** The output of a command: one line of JSON. */
final class Answer {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Answer() {}

    /** A map, in the given order, from alternating keys and values. */
    static Map<String, Object> object(Object... keysAndValues) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            object.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return object;
    }

    static void print(Object value) {
        try {
            System.out.println(MAPPER.writeValueAsString(value));
        } catch (JsonProcessingException error) {
            throw new IllegalStateException(error);
        }
    }
}
