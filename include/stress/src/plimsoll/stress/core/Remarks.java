package plimsoll.stress.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;

/**
 * What the database said about operations: failures of {@link ErrorKind#EXPLAINED} kinds, and warnings with answers. The
 * first message of each kind is kept with its statement, and all are counted.
 *
 * <p>Two messages are of one kind if they differ in digits only and belong to the same statement. After {@link #MOST}
 * kinds, further ones are counted without their messages.
 */
final class Remarks {
    static final int MOST = 20;
    private static final int LONGEST = 500;

    private final Map<String, Remark> failures = new LinkedHashMap<>();
    private final Map<String, Remark> warnings = new LinkedHashMap<>();
    private final List<String> fresh = new ArrayList<>();
    private long warned;

    /** One kind of message, with how often it came. */
    private static final class Remark {
        final String what;
        final String operation;
        final String statement;
        final String message;
        long count;

        Remark(String what, String operation, String statement, String message) {
            this.what = what;
            this.operation = operation;
            this.statement = statement;
            this.message = message;
        }

        Map<String, Object> document() {
            return Json.object(
                    "operation", operation, "kind", what, "message", message, "statement", statement, "count", count);
        }
    }

    /** Counts a failure; {@code client} carried the operation out. */
    synchronized void failed(Client client, Operation operation, int command, ErrorKind kind, Throwable error) {
        count(failures, kind.label, client, operation, command, message(error));
    }

    /** Counts a warning that the database sent with an answer. */
    synchronized void warned(Client client, Operation operation, int command, String warning) {
        warned++;
        count(warnings, "warning", client, operation, command, warning);
    }

    /** Returns the number of all warnings. */
    synchronized long warnings() {
        return warned;
    }

    /** Returns each kind of message that came first since the last call, in sentences. */
    synchronized List<String> fresh() {
        List<String> taken = List.copyOf(fresh);
        fresh.clear();
        return taken;
    }

    synchronized List<Object> failureDocuments() {
        return documents(failures);
    }

    synchronized List<Object> warningDocuments() {
        return documents(warnings);
    }

    /** Returns the first failure's message with its statement; empty where none was kept. */
    synchronized String firstFailure() {
        return failures.values().stream()
                .findFirst()
                .map(one -> "; the first failure of kind " + one.what + ": " + one.message + " — " + one.statement)
                .orElse("");
    }

    private void count(
            Map<String, Remark> kinds, String what, Client client, Operation operation, int command, String message) {
        String kind = what + ' ' + operation.name + ' ' + command + ' ' + message.replaceAll("\\d+", "0");
        Remark known = kinds.get(kind);
        if (known == null && kinds.size() < MOST) {
            known = new Remark(what, operation.name, cut(client.words(operation, command)), cut(message));
            kinds.put(kind, known);
            String sort = kinds == failures ? "a failure of kind " + what : "a warning of the database";
            fresh.add("first of its kind in " + known.operation + ", " + sort + ": " + known.message + "\n  "
                    + known.statement);
        }
        if (known != null) {
            known.count++;
        }
    }

    private static List<Object> documents(Map<String, Remark> kinds) {
        List<Object> documents = new ArrayList<>();
        kinds.values().forEach(one -> documents.add(one.document()));
        return documents;
    }

    private static String message(Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        String text = cause.getMessage();
        return cause.getClass().getSimpleName() + (text == null ? "" : ": " + text);
    }

    private static String cut(String text) {
        return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "…";
    }
}
