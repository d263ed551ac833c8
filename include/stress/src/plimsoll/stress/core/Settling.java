package plimsoll.stress.core;

import java.time.Duration;
import java.util.Map;

/** Waits after populating until the database has finished its compactions. */
final class Settling {
    private static final long PAUSE_NANOS = 1_000_000_000L;
    /**
     * The number of looks in a row that must find no compaction, because the end of one compaction can start another.
     */
    private static final int LOOKS = 3;

    private final Connector.Connection client;
    private final Stop stop;
    private Long left;
    /** Why the newest answer is missing; null where there is one. */
    private String problem;

    Settling(Connector.Connection client, Stop stop) {
        this.client = client;
        this.stop = stop;
    }

    /**
     * Waits, and returns the outcome for the summary: {@code compactions_left} is null where the database does not report
     * compactions, and where its last answer is missing, which {@code problem} explains.
     */
    Map<String, Object> await(Duration patience) {
        long start = System.nanoTime();
        int quiet = 0;
        while (mayBeLeft() && stop.reason() == null) {
            quiet = problem == null && left == 0 ? quiet + 1 : 0;
            if (quiet == LOOKS || System.nanoTime() - start >= patience.toNanos()) {
                break;
            }
            stop.awaitUntil(System.nanoTime() + PAUSE_NANOS);
        }
        return Json.object(
                "settled", left == null && problem == null ? null : quiet == LOOKS,
                "compactions_left", left,
                "problem", problem,
                "waited_s", Json.rounded((System.nanoTime() - start) / 1e9));
    }

    /** Asks once, and returns false where the database does not report compactions. */
    private boolean mayBeLeft() {
        try {
            left = client.compactionsLeft();
            problem = null;
            return left != null;
        } catch (RuntimeException unanswered) {
            left = null;
            problem = String.valueOf(unanswered.getMessage());
            return true;
        }
    }
}
