package plimsoll.stress.hbase;

import java.nio.charset.StandardCharsets;
import java.util.List;
import plimsoll.stress.core.Field;

/** The fields of an operation: their places in its rows, and the bytes of their columns' names. */
final class Columns {
    private final List<Field> fields;

    Columns(List<Field> fields) {
        this.fields = fields;
    }

    int index(String name) {
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).name.equals(name)) {
                return f;
            }
        }
        throw new IllegalArgumentException("no field is called " + name);
    }

    int[] indices(List<String> names) {
        return names.stream().mapToInt(this::index).toArray();
    }

    byte[][] names(List<String> names) {
        return names.stream().map(name -> name.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new);
    }
}
