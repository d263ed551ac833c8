package plimsoll.stress;

import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import java.util.function.BiConsumer;

/** One operation on its way: records its end, then makes room for the worker's next one. */
final class Request implements BiConsumer<AsyncResultSet, Throwable> {
    private final Worker worker;
    private final Recording recording;
    private final Operation operation;
    private final long intended;
    private final long sent;

    /** Instants are {@link System#nanoTime()}. */
    Request(Worker worker, Recording recording, Operation operation, long intended, long sent) {
        this.worker = worker;
        this.recording = recording;
        this.operation = operation;
        this.intended = intended;
        this.sent = sent;
    }

    @Override
    public void accept(AsyncResultSet rows, Throwable error) {
        long now = System.nanoTime();
        if (error == null) {
            recording.completed(operation, intended, sent, now);
        } else {
            recording.failed(operation, ErrorKind.of(error), intended, now);
        }
        worker.release(now);
    }
}
