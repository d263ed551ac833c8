package plimsoll.stress.cql;

import com.datastax.oss.driver.api.core.type.DataType;
import com.datastax.oss.driver.api.core.type.DataTypes;
import com.datastax.oss.driver.api.core.uuid.Uuids;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import plimsoll.stress.core.Values;

/** Numbers, texts and bytes as values of CQL's types. */
final class Types {
    private static final Map<DataType, UnaryOperator<Object>> KNOWN = known();

    private Types() {}

    /** Returns the maker of a type's values. Throws IllegalArgumentException for a type that it can't make values of. */
    static UnaryOperator<Object> of(DataType type, String marker) {
        UnaryOperator<Object> found = KNOWN.get(type);
        if (found == null) {
            String what = "no value can be made for the marker :" + marker + " of type " + type.asCql(false, true);
            throw new IllegalArgumentException(what);
        }
        if (type.equals(DataTypes.TIMEUUID)) {
            // The first one looks up this machine's names, which can take seconds: not in the timed run.
            Uuids.timeBased();
        }
        return found;
    }

    private static Map<DataType, UnaryOperator<Object>> known() {
        Map<DataType, UnaryOperator<Object>> known = new HashMap<>();
        known.put(DataTypes.TEXT, Types::text);
        known.put(DataTypes.ASCII, Types::text);
        known.put(DataTypes.BIGINT, number(Number::longValue));
        known.put(DataTypes.COUNTER, number(Number::longValue));
        known.put(DataTypes.INT, number(value -> Math.toIntExact(value.longValue())));
        known.put(DataTypes.SMALLINT, number(value -> (short) value.longValue()));
        known.put(DataTypes.TINYINT, number(value -> (byte) value.longValue()));
        known.put(DataTypes.VARINT, number(value -> BigInteger.valueOf(value.longValue())));
        known.put(DataTypes.DECIMAL, number(value -> BigDecimal.valueOf(value.doubleValue())));
        known.put(DataTypes.DOUBLE, number(Number::doubleValue));
        known.put(DataTypes.FLOAT, number(Number::floatValue));
        known.put(DataTypes.BOOLEAN, number(value -> (value.longValue() & 1) == 1));
        known.put(DataTypes.BLOB, Types::bytes);
        known.put(DataTypes.UUID, value -> value instanceof Long ? uuid((Long) value) : value);
        known.put(DataTypes.TIMEUUID, Types::timeUuid);
        known.put(DataTypes.TIMESTAMP, Types::instant);
        known.put(DataTypes.DATE, value -> value == Values.NOW
                ? LocalDate.now(ZoneOffset.UTC)
                : LocalDate.ofEpochDay(((Number) value).longValue()));
        return Map.copyOf(known);
    }

    private static UnaryOperator<Object> number(Function<Number, Object> convert) {
        return value -> convert.apply(value == Values.NOW ? (Number) System.currentTimeMillis() : (Number) value);
    }

    private static Object text(Object value) {
        return value instanceof String ? value : value == Values.NOW ? Instant.now().toString() : String.valueOf(value);
    }

    private static Object bytes(Object value) {
        if (value instanceof ByteBuffer) {
            return value;
        }
        return value instanceof Number
                ? ByteBuffer.allocate(Long.BYTES).putLong(0, ((Number) value).longValue())
                : ByteBuffer.wrap(String.valueOf(value).getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the UUID of a number, in the form of version 4. */
    private static UUID uuid(long number) {
        return new UUID((number & ~0xF000L) | 0x4000L, (number * 0x9E3779B97F4A7C15L >>> 2) | 0x8000000000000000L);
    }

    private static Object timeUuid(Object value) {
        return value == Values.NOW ? Uuids.timeBased() : value instanceof Long ? Uuids.startOf((Long) value) : value;
    }

    private static Object instant(Object value) {
        return value == Values.NOW
                ? Instant.now()
                : value instanceof Number ? Instant.ofEpochMilli(((Number) value).longValue()) : value;
    }
}
