package plimsoll.stress.core;

import java.util.List;
import java.util.Locale;

/** What a command does to the rows of a table by their keys, in the language of no database. */
public final class Access {
    /** The ways to use a row. */
    public enum Kind {
        /** Reads the row of a key, or those of several keys at once. */
        READ,
        INSERT,
        UPDATE,
        /** Reads the row of a key and those after it. */
        SCAN
    }

    public final Kind kind;
    public final String table;
    /** The fields with the keys; several only where a read asks for several rows. */
    public final List<String> keys;
    /** The columns: of a read those to return, none for all; of a write also the fields with their values. */
    public final List<String> columns;
    /** The field with the greatest number of rows of a scan; null for other kinds. */
    public final String limit;

    public Access(Kind kind, String table, List<String> keys, List<String> columns, String limit) {
        this.kind = kind;
        this.table = table;
        this.keys = List.copyOf(keys);
        this.columns = List.copyOf(columns);
        this.limit = limit;
    }

    /** Returns whether it changes rows. */
    public boolean writes() {
        return kind == Kind.INSERT || kind == Kind.UPDATE;
    }

    /** Returns a text for people: {@code update field0 of usertable by key}. */
    @Override
    public String toString() {
        String what = columns.isEmpty() ? "" : String.join(", ", columns) + " of ";
        return kind.name().toLowerCase(Locale.ROOT) + " " + what + table + " by " + String.join(", ", keys);
    }
}
