package plimsoll.stress.core;

/** One operation in flight. It records its end, then makes room for the worker's next operation. */
final class Request implements Completion {
    private final Worker worker;
    private final Recording recording;
    private final int operation;
    private final long intended;
    private final long sent;

    /** Instants are {@link System#nanoTime()}. */
    Request(Worker worker, Recording recording, int operation, long intended, long sent) {
        this.worker = worker;
        this.recording = recording;
        this.operation = operation;
        this.intended = intended;
        this.sent = sent;
    }

    @Override
    public void ended(int rows, Throwable error) {
        long now = System.nanoTime();
        if (error == null) {
            recording.completed(operation, intended, sent, now);
        } else {
            recording.failed(operation, worker.kind(error), intended, now);
        }
        worker.release(now);
    }
}
