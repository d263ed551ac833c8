package plimsoll.stress.core;

import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Reads a sample of the populated rows to verify that they exist. */
final class ReadBack {
    private static final int SAMPLE = 1_000;
    private static final int AT_ONCE = 32;
    private static final long PATIENCE_SECONDS = 60;

    private final Client client;
    private final Population population;
    private final Split split;
    private final AtomicLong found = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();

    /** @param split whose rows are there: other generators may still write theirs */
    ReadBack(Client client, Population population, Split split) {
        this.client = client;
        this.population = population;
        this.split = split;
    }

    /**
     * Reads a sample of the rows, or all if they are few.
     *
     * @return how many were asked for
     * @throws StressException if some are missing, or could not be read
     */
    long verify(long seed) throws StressException {
        long written = split.of(population.rows);
        long asked = Math.min(SAMPLE, written);
        SplittableRandom random = new SplittableRandom(seed);
        Semaphore room = new Semaphore(AT_ONCE);
        try {
            for (long n = 0; n < asked; n++) {
                take(room, 1);
                ask(split.place(asked == written ? n : random.nextLong(written)), room);
            }
            take(room, AT_ONCE);
        } catch (InterruptedException error) {
            throw new StressException(ExitCode.INCOMPLETE, "interrupted");
        }
        if (found.get() < asked) {
            String unread = failed.get() == 0 ? "" : "; " + failed.get() + " could not be read";
            throw new StressException(
                    ExitCode.POPULATE, "of " + asked + " populated rows only " + found.get() + " are there" + unread);
        }
        return asked;
    }

    private void ask(long row, Semaphore room) {
        client.send(population.readBack, 0, Traffic.ofRow(population.readBack, row), (rows, error) -> {
            (error == null && rows > 0 ? found : failed).addAndGet(error == null && rows == 0 ? 0 : 1);
            room.release();
        });
    }

    private static void take(Semaphore room, int permits) throws InterruptedException, StressException {
        if (!room.tryAcquire(permits, PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new StressException(ExitCode.POPULATE, "populated rows could not be read back: no answer");
        }
    }
}
