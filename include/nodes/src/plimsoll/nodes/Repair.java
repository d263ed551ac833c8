package plimsoll.nodes;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import javax.management.Notification;
import javax.management.NotificationListener;
import javax.management.remote.JMXConnectionNotification;

/** A repair of one keyspace, followed by the notifications that the node sends of it. */
final class Repair {
    /** The kinds of notifications that count, by their numbers in Cassandra's {@code ProgressEventType}. */
    private static final int PROGRESS = 1;

    private static final int ERROR = 2;
    private static final int ABORT = 3;
    private static final int COMPLETE = 5;

    private final String source;
    private String problem;

    private Repair(int number) {
        source = "repair:" + number;
    }

    /**
     * Repairs all that the node has of the keyspace, and returns when that has ended. Prints its progress.
     *
     * @return false if there is nothing to repair, as no other node has a replica
     * @throws IOException if the repair failed, or nobody knows how it ended
     */
    static boolean of(JvmInspection node, String keyspace) throws Exception {
        BlockingQueue<Notification> told = new LinkedBlockingQueue<>();
        NotificationListener listener = (one, ignored) -> told.add(one);
        node.listen(listener);
        int number = node.repair(keyspace, options());
        if (number == 0) {
            return false;
        }
        Repair repair = new Repair(number);
        for (Notification one = told.take(); !repair.isEndedBy(one); one = told.take()) {
            continue;
        }
        if (repair.problem != null) {
            throw new IOException(keyspace + ": " + repair.problem);
        }
        return true;
    }

    /** Those of {@code nodetool repair -full}. A map that Java 8 can read too. */
    private static Map<String, String> options() {
        Map<String, String> options = new HashMap<>();
        options.put("incremental", "false");
        options.put("primaryRange", "false");
        options.put("parallelism", "parallel");
        options.put("trace", "false");
        return options;
    }

    private boolean isEndedBy(Notification one) throws IOException {
        if (one instanceof JMXConnectionNotification) {
            if (one.getType().equals(JMXConnectionNotification.OPENED)) {
                return false;
            }
            throw new IOException("how the repair ended is not known: " + one.getType());
        }
        if (!source.equals(one.getSource()) || !(one.getUserData() instanceof Map)) {
            return false;
        }
        Map<?, ?> told = (Map<?, ?>) one.getUserData();
        int kind = (Integer) told.get("type");
        if (kind == PROGRESS) {
            Answer.print(Answer.object("progress", told.get("progressCount") + " of " + told.get("total") + " repaired"));
        }
        if (kind == ERROR || kind == ABORT) {
            problem = one.getMessage();
        }
        return kind == COMPLETE; // which also follows an error
    }
}
