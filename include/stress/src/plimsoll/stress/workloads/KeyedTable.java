package plimsoll.stress.workloads;

import java.util.ArrayList;
import java.util.List;
import plimsoll.stress.core.Access;
import plimsoll.stress.core.Command;

/** A table of rows that have one key and texts, and the commands on it: each as CQL and as an access by key. */
final class KeyedTable {
    private final String name;
    private final String keyColumn;
    private final String keyType;
    private final String key;
    private final List<String> columns;

    /** @param key the field with the key of a row; fields of columns have the columns' names */
    KeyedTable(String name, String keyColumn, String keyType, String key, List<String> columns) {
        this.name = name;
        this.keyColumn = keyColumn;
        this.keyType = keyType;
        this.key = key;
        this.columns = columns;
    }

    /** The statement that creates it if it is not there. */
    Command schema() {
        String texts = String.join(", ", each("%s text", columns));
        String statement = "CREATE TABLE IF NOT EXISTS " + table() + " (" + keyColumn + " " + keyType + " PRIMARY KEY, "
                + texts + ")";
        return new Command(statement, "table " + name);
    }

    Command insert() {
        String statement = "INSERT INTO " + table() + " (" + keyColumn + ", " + String.join(", ", columns) + ") VALUES (:"
                + key + ", " + String.join(", ", each(":%s", columns)) + ")";
        return command(statement, Access.Kind.INSERT, List.of(key), columns, null);
    }

    Command update(List<String> written) {
        String statement =
                "UPDATE " + table() + " SET " + String.join(", ", each("%1$s = :%1$s", written)) + whereKey();
        return command(statement, Access.Kind.UPDATE, List.of(key), written, null);
    }

    /** Reads the whole row. */
    Command read() {
        return command("SELECT *" + from() + whereKey(), Access.Kind.READ, List.of(key), List.of(), null);
    }

    Command read(String column) {
        return command("SELECT " + column + from() + whereKey(), Access.Kind.READ, List.of(key), List.of(column), null);
    }

    /** Reads no more than whether the row is there, where the protocol can. */
    Command readKey() {
        return command("SELECT " + keyColumn + from() + whereKey(), Access.Kind.READ, List.of(key), List.of(), null);
    }

    /** Reads the whole rows of all these fields' keys. */
    Command read(List<String> keys) {
        String markers = String.join(", ", each(":%s", keys));
        String statement = "SELECT *" + from() + " WHERE " + keyColumn + " IN (" + markers + ")";
        return command(statement, Access.Kind.READ, keys, List.of(), null);
    }

    /** Reads rows from that of the key on, in the order in which the database has them. */
    Command scan(String limit) {
        String statement =
                "SELECT *" + from() + " WHERE token(" + keyColumn + ") >= token(:" + key + ") LIMIT :" + limit;
        return command(statement, Access.Kind.SCAN, List.of(key), List.of(), limit);
    }

    private Command command(
            String statement, Access.Kind kind, List<String> keys, List<String> of, String limit) {
        return new Command(statement, null, new Access(kind, name, keys, of, limit));
    }

    private String table() {
        return "{keyspace}." + name;
    }

    private String from() {
        return " FROM " + table();
    }

    private String whereKey() {
        return " WHERE " + keyColumn + " = :" + key;
    }

    private static List<String> each(String pattern, List<String> names) {
        List<String> each = new ArrayList<>();
        names.forEach(name -> each.add(String.format(pattern, name)));
        return each;
    }
}
