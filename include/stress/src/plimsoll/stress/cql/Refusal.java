package plimsoll.stress.cql;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A database's error about a statement, for people: the statement, the error, and its place in the statement. */
final class Refusal {
    /** The database counts lines from 1 and columns from 0. */
    private static final Pattern PLACE = Pattern.compile("line (\\d+):(\\d+)");

    private Refusal() {}

    static String of(String place, String statement, Throwable error) {
        String reason = error.getMessage() == null ? error.toString() : error.getMessage();
        return place + ": the database refuses the statement: " + reason + "\n" + marked(statement, reason);
    }

    /** Returns the statement with a caret below the place that the reason names. */
    private static String marked(String statement, String reason) {
        Matcher matcher = PLACE.matcher(reason);
        int line = matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
        StringBuilder marked = new StringBuilder();
        int number = 0;
        for (String text : statement.split("\n")) {
            marked.append("  ").append(text).append('\n');
            if (++number == line) {
                marked.append("  ").append(" ".repeat(Integer.parseInt(matcher.group(2)))).append("^\n");
            }
        }
        return marked.toString().stripTrailing();
    }
}
