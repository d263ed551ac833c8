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

    Settling(Connector.Connection client, Stop stop) {
        this.client = client;
        this.stop = stop;
    }

    /**
     * Waits, and returns the outcome for the summary. {@code left} is null where the database does not report
     * compactions.
     */
    Map<String, Object> await(Duration patience) {
        long start = System.nanoTime();
        int quiet = 0;
        Long left = client.compactionsLeft();
        while (left != null && stop.reason() == null) {
            quiet = left == 0 ? quiet + 1 : 0;
            if (quiet == LOOKS || System.nanoTime() - start >= patience.toNanos()) {
                break;
            }
            stop.awaitUntil(System.nanoTime() + PAUSE_NANOS);
            left = client.compactionsLeft();
        }
        return Json.object(
                "settled", left == null ? null : quiet == LOOKS,
                "compactions_left", left,
                "waited_s", Json.rounded((System.nanoTime() - start) / 1e9));
    }
}
