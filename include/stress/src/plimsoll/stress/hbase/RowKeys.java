package plimsoll.stress.hbase;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/**
 * Row keys: two bytes of the key's CRC-32, then the key. So rows are spread evenly over regions that divide these two
 * bytes evenly, whatever the keys are. A scan meets rows in the order of the two bytes, which is as good as random; in
 * CQL it is that of the keys' hashes, too.
 */
final class RowKeys {
    static final int MOST_REGIONS = 1_000;
    private static final int PREFIXES = 1 << Short.SIZE;

    private RowKeys() {}

    static byte[] of(Object key) {
        byte[] plain = bytes(key);
        CRC32 checksum = new CRC32();
        checksum.update(plain);
        return ByteBuffer.allocate(Short.BYTES + plain.length)
                .putShort((short) (checksum.getValue() >>> Short.SIZE))
                .put(plain)
                .array();
    }

    /** Returns where regions begin, without the first one; null for one region. */
    static byte[][] splits(int regions) {
        if (regions == 1) {
            return null;
        }
        byte[][] splits = new byte[regions - 1][];
        for (int region = 1; region < regions; region++) {
            short prefix = (short) ((long) region * PREFIXES / regions);
            splits[region - 1] = ByteBuffer.allocate(Short.BYTES).putShort(prefix).array();
        }
        return splits;
    }

    /** Returns the bytes of a number or a text. */
    static byte[] bytes(Object value) {
        if (value instanceof Long) {
            return ByteBuffer.allocate(Long.BYTES).putLong((Long) value).array();
        }
        if (value instanceof String) {
            return ((String) value).getBytes(StandardCharsets.UTF_8);
        }
        throw new IllegalArgumentException("no bytes are made of " + value);
    }
}
