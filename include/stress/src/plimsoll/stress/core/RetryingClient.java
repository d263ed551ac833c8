package plimsoll.stress.core;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Sends an operation again that failed, unless the operation itself is wrong: the same values, after a pause that
 * doubles. Used only for populating, which is no measurement, and where each row must exist in the end. An operation of
 * the timed run is never sent twice.
 */
final class RetryingClient implements Client {
    /** With the pauses this makes 26 seconds: longer than a node's collection of its whole heap. */
    private static final int MOST_RETRIES = 10;

    private static final long FIRST_PAUSE_MS = 100;
    private static final long LONGEST_PAUSE_MS = 5_000;

    private final Client client;
    private final long firstPauseMs;
    private final AtomicLong retries = new AtomicLong();

    RetryingClient(Client client) {
        this(client, FIRST_PAUSE_MS);
    }

    RetryingClient(Client client, long firstPauseMs) {
        this.client = client;
        this.firstPauseMs = firstPauseMs;
    }

    /** Returns the number of times that an operation was sent again. */
    long retries() {
        return retries.get();
    }

    @Override
    public void send(Operation operation, int command, Object[][] rows, Completion end) {
        attempt(0, operation, command, rows, end);
    }

    @Override
    public ErrorKind kind(Throwable error) {
        return client.kind(error);
    }

    @Override
    public String words(Operation operation, int command) {
        return client.words(operation, command);
    }

    private void attempt(int retry, Operation operation, int command, Object[][] rows, Completion end) {
        client.send(operation, command, rows, new Completion() {
            @Override
            public void ended(int found, Throwable error) {
                if (error == null || retry == MOST_RETRIES || client.kind(error) == ErrorKind.OTHER) {
                    end.ended(found, error);
                    return;
                }
                retries.incrementAndGet();
                pause(retry).execute(() -> again(retry + 1, operation, command, rows, end));
            }

            @Override
            public void warned(String warning) {
                end.warned(warning);
            }
        });
    }

    private void again(int retry, Operation operation, int command, Object[][] rows, Completion end) {
        try {
            attempt(retry, operation, command, rows, end);
        } catch (RuntimeException error) {
            end.ended(0, error);
        }
    }

    private Executor pause(int retry) {
        long pauseMs = Math.min(firstPauseMs << retry, LONGEST_PAUSE_MS);
        return CompletableFuture.delayedExecutor(pauseMs, TimeUnit.MILLISECONDS);
    }
}
