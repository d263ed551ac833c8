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
import plimsoll.stress.core.Field;
import plimsoll.stress.core.Values;

/** Makes values of CQL's types from numbers, texts and bytes. A value that does not fit its type is an error. */
final class Types {
    /** The last millisecond since 1970 that the 60 bits of a time-based UUID can hold. */
    private static final long LAST_OF_TIMEUUID = 103_072_857_660_684L;

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

    /** Throws IllegalArgumentException if an example of a field's values does not fit the type of its marker. */
    static void check(DataType type, UnaryOperator<Object> made, Field field) {
        for (Object example : field.examples) {
            try {
                made.apply(example);
            } catch (RuntimeException error) {
                throw new IllegalArgumentException(
                        "the values of the marker :" + field.name + " do not fit its type " + type.asCql(false, true) + ": "
                                + error.getMessage(),
                        error);
            }
        }
    }

    private static Map<DataType, UnaryOperator<Object>> known() {
        Map<DataType, UnaryOperator<Object>> known = new HashMap<>();
        known.put(DataTypes.TEXT, Types::text);
        known.put(DataTypes.ASCII, Types::text);
        known.put(DataTypes.BIGINT, number(Number::longValue));
        known.put(DataTypes.COUNTER, number(Number::longValue));
        known.put(DataTypes.INT, number(value -> (int) within(value, Integer.MIN_VALUE, Integer.MAX_VALUE)));
        known.put(DataTypes.SMALLINT, number(value -> (short) within(value, Short.MIN_VALUE, Short.MAX_VALUE)));
        known.put(DataTypes.TINYINT, number(value -> (byte) within(value, Byte.MIN_VALUE, Byte.MAX_VALUE)));
        known.put(DataTypes.VARINT, number(value -> BigInteger.valueOf(value.longValue())));
        known.put(DataTypes.DECIMAL, number(Types::decimal));
        known.put(DataTypes.DOUBLE, number(Number::doubleValue));
        known.put(DataTypes.FLOAT, number(Number::floatValue));
        known.put(DataTypes.BOOLEAN, number(value -> (value.longValue() & 1) == 1));
        known.put(DataTypes.BLOB, Types::bytes);
        known.put(DataTypes.UUID, value -> value instanceof UUID ? value : uuid(whole(value)));
        known.put(DataTypes.TIMEUUID, Types::timeUuid);
        known.put(DataTypes.TIMESTAMP, Types::instant);
        known.put(DataTypes.DATE, Types::date);
        return Map.copyOf(known);
    }

    private static UnaryOperator<Object> number(Function<Number, Object> convert) {
        return value -> convert.apply(value == Values.NOW ? (Number) System.currentTimeMillis() : numeric(value));
    }

    private static Number numeric(Object value) {
        if (value instanceof Number) {
            return (Number) value;
        }
        throw new IllegalArgumentException(shown(value) + " is no number");
    }

    private static long whole(Object value) {
        return numeric(value).longValue();
    }

    private static long within(Number value, long least, long most) {
        long number = value.longValue();
        if (number < least || number > most) {
            throw new IllegalArgumentException(number + " is not between " + least + " and " + most);
        }
        return number;
    }

    private static BigDecimal decimal(Number value) {
        return value instanceof Long ? BigDecimal.valueOf(value.longValue()) : BigDecimal.valueOf(value.doubleValue());
    }

    private static Object text(Object value) {
        if (value instanceof ByteBuffer) {
            throw new IllegalArgumentException(shown(value) + " are no text");
        }
        return value == Values.NOW ? Instant.now().toString() : String.valueOf(value);
    }

    private static Object bytes(Object value) {
        if (value == Values.NOW) {
            throw new IllegalArgumentException(shown(value) + " is no bytes");
        }
        if (value instanceof ByteBuffer) {
            return value;
        }
        return value instanceof Number
                ? ByteBuffer.allocate(Long.BYTES).putLong(0, whole(value))
                : ByteBuffer.wrap(String.valueOf(value).getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the UUID of a number, in the form of version 4. */
    private static UUID uuid(long number) {
        return new UUID((number & ~0xF000L) | 0x4000L, (number * 0x9E3779B97F4A7C15L >>> 2) | 0x8000000000000000L);
    }

    private static Object timeUuid(Object value) {
        if (value == Values.NOW) {
            return Uuids.timeBased();
        }
        return value instanceof UUID ? value : Uuids.startOf(within(numeric(value), 0, LAST_OF_TIMEUUID));
    }

    private static Object instant(Object value) {
        if (value == Values.NOW) {
            return Instant.now();
        }
        return value instanceof Instant ? value : Instant.ofEpochMilli(whole(value));
    }

    private static Object date(Object value) {
        return value == Values.NOW
                ? LocalDate.now(ZoneOffset.UTC)
                : LocalDate.ofEpochDay(within(numeric(value), Integer.MIN_VALUE, Integer.MAX_VALUE));
    }

    private static String shown(Object value) {
        if (value == Values.NOW) {
            return "the present time";
        }
        return value instanceof ByteBuffer ? ((ByteBuffer) value).remaining() + " bytes" : "'" + value + "'";
    }
}
