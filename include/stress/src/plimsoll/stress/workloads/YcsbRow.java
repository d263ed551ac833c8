package plimsoll.stress.workloads;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import plimsoll.stress.core.Field;
import plimsoll.stress.core.Options;
import plimsoll.stress.core.Source;
import plimsoll.stress.core.distribution.Distribution;
import plimsoll.stress.core.distribution.Distributions;

/** The rows of YCSB's table: a key, and fields of letters. */
final class YcsbRow {
    private final int fields;
    private final Source text;
    private final boolean readsAll;
    private final boolean writesAll;

    YcsbRow(Options options) {
        fields = options.small("fieldcount");
        text = Sources.letters(lengths(
                options.text("fieldlengthdistribution"), options.count("minfieldlength"), options.count("fieldlength")));
        readsAll = options.truth("readallfields");
        writesAll = options.truth("writeallfields");
    }

    /** Makes the lengths of fields, up to {@code most}; a constant length is {@code most}. */
    static Distribution lengths(String distribution, long least, long most) {
        if (distribution.equals("constant")) {
            return Distribution.of(random -> most);
        }
        return Distributions.of(Map.of(Distributions.NAME, distribution, "min", least, "max", most));
    }

    String table(String table) {
        return "CREATE TABLE IF NOT EXISTS " + table + " (y_id text PRIMARY KEY, " + joined("field%d text") + ")";
    }

    String insert(String table) {
        return "INSERT INTO " + table + " (y_id, " + joined("field%d") + ") VALUES (:key, " + joined(":field%d") + ")";
    }

    List<String> reads(String table, String where) {
        return readsAll ? List.of("SELECT * FROM " + table + where) : each("SELECT field%d FROM " + table + where);
    }

    List<String> updates(String table, String where) {
        return writesAll
                ? List.of("UPDATE " + table + " SET " + joined("field%1$d = :field%1$d") + where)
                : each("UPDATE " + table + " SET field%1$d = :field%1$d" + where);
    }

    /** Makes the key and a text for every field. Statements that write one field use one of the texts. */
    List<Field> written(Field key) {
        List<Field> all = new ArrayList<>(List.of(key));
        for (int f = 0; f < fields; f++) {
            all.add(Sources.field("field" + f, text));
        }
        return all;
    }

    private String joined(String pattern) {
        return String.join(", ", each(pattern));
    }

    private List<String> each(String pattern) {
        List<String> each = new ArrayList<>();
        for (int f = 0; f < fields; f++) {
            each.add(String.format(pattern, f));
        }
        return each;
    }
}
