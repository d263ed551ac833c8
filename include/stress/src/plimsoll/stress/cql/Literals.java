package plimsoll.stress.cql;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The text of a statement without its comments, cut at its markers, so that literals can stand there. */
final class Literals {
    /** Strings and quoted names hold neither markers nor comments. */
    private static final Pattern TOKEN = Pattern.compile(
            "'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\\$\\$.*?\\$\\$|(?<comment>--[^\n]*|//[^\n]*|/\\*.*?\\*/)"
                    + "|(?<marker>:[A-Za-z]\\w*)",
            Pattern.DOTALL);

    private final List<String> parts = new ArrayList<>();

    /**
     * @param markers the number of markers that the database found
     * @throws IllegalArgumentException if there are not so many
     */
    Literals(String statement, int markers) {
        Matcher token = TOKEN.matcher(statement);
        StringBuilder part = new StringBuilder();
        while (token.find()) {
            token.appendReplacement(part, token.group("comment") == null && token.group("marker") == null ? "$0" : " ");
            if (token.group("marker") != null) {
                part.setLength(part.length() - 1);
                parts.add(part.toString());
                part.setLength(0);
            }
        }
        parts.add(token.appendTail(part).toString().stripTrailing().replaceAll(";$", ""));
        if (parts.size() != markers + 1) {
            throw new IllegalArgumentException(
                    "the statement has " + markers + " markers, of which " + (parts.size() - 1) + " are found in its text: "
                            + "write a space behind each colon that begins no marker");
        }
    }

    /** Returns the text with a literal for each marker, in the statement's order. */
    String with(IntFunction<String> literal) {
        StringBuilder text = new StringBuilder(parts.get(0));
        for (int marker = 1; marker < parts.size(); marker++) {
            text.append(literal.apply(marker - 1)).append(parts.get(marker));
        }
        return text.toString();
    }
}
