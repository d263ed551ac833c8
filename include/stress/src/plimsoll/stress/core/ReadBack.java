package plimsoll.stress.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Reads a sample of the populated rows to verify that they exist.
 *
 * <p>A row that is not found is asked for again: where one replica's answer is enough for a write, the others may get the row
 * later, by a hint, and each read may ask another replica.
 */
final class ReadBack {
    private static final int SAMPLE = 1_000;
    private static final int AT_ONCE = 32;
    private static final long PATIENCE_SECONDS = 60;
    /** Longer than the ten seconds after which a node begins to hand over its hints. */
    private static final int MOST_LOOKS = 12;

    private static final long PAUSE_MS = 1_000;

    private final Client client;
    private final Population population;
    private final Split split;
    private final Queue<Long> missing = new ConcurrentLinkedQueue<>();
    private final Queue<Long> unread = new ConcurrentLinkedQueue<>();

    /** @param split this generator's share: only its rows are read, because other generators may still write theirs */
    ReadBack(Client client, Population population, Split split) {
        this.client = client;
        this.population = population;
        this.split = split;
    }

    /**
     * Reads a sample of the rows, or all if they are few.
     *
     * @return the number of rows that were asked for
     * @throws StressException if some are missing, or could not be read
     */
    long verify(long seed) throws StressException {
        List<Long> asked = sample(seed);
        List<Long> rows = asked;
        try {
            for (int look = 0; look < MOST_LOOKS && !rows.isEmpty(); look++) {
                Thread.sleep(look == 0 ? 0 : PAUSE_MS);
                rows = lost(rows);
            }
        } catch (InterruptedException error) {
            throw new StressException(ExitCode.INCOMPLETE, "interrupted");
        }
        if (!rows.isEmpty()) {
            int found = asked.size() - rows.size();
            String errors = unread.isEmpty() ? "" : "; " + unread.size() + " could not be read";
            throw new StressException(
                    ExitCode.POPULATE, "of " + asked.size() + " populated rows only " + found + " are there" + errors);
        }
        return asked.size();
    }

    private List<Long> sample(long seed) {
        long written = split.of(population.rows);
        long asked = Math.min(SAMPLE, written);
        SplittableRandom random = new SplittableRandom(seed);
        List<Long> rows = new ArrayList<>();
        for (long n = 0; n < asked; n++) {
            rows.add(split.place(asked == written ? n : random.nextLong(written)));
        }
        return rows;
    }

    /** Returns the rows that are not found now or can't be read. */
    private List<Long> lost(List<Long> rows) throws InterruptedException, StressException {
        missing.clear();
        unread.clear();
        Semaphore room = new Semaphore(AT_ONCE);
        for (long row : rows) {
            take(room, 1);
            ask(row, room);
        }
        take(room, AT_ONCE);
        List<Long> lost = new ArrayList<>(missing);
        lost.addAll(unread);
        return lost;
    }

    private void ask(long row, Semaphore room) {
        client.send(population.readBack, 0, Traffic.ofRow(population.readBack, row), (found, error) -> {
            if (error != null) {
                unread.add(row);
            } else if (found == 0) {
                missing.add(row);
            }
            room.release();
        });
    }

    private static void take(Semaphore room, int permits) throws InterruptedException, StressException {
        if (!room.tryAcquire(permits, PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new StressException(ExitCode.POPULATE, "populated rows could not be read back: no answer");
        }
    }
}
