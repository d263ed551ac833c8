package plimsoll.stress.core;

/** One operation in flight. It records its end, then makes room for the worker's next operation. */
final class Request implements Completion {
    private final Worker worker;
    private final Recording recording;
    private final int index;
    private final Operation operation;
    private final int command;
    private final long intended;
    private final long sent;

    /** Instants are {@link System#nanoTime()}. */
    Request(Worker worker, Recording recording, Traffic.Draw draw, long intended, long sent) {
        this.worker = worker;
        this.recording = recording;
        this.index = draw.index;
        this.operation = draw.operation;
        this.command = draw.command;
        this.intended = intended;
        this.sent = sent;
    }

    @Override
    public void warned(String warning) {
        recording.remarks.warned(worker.client(), operation, command, warning);
    }

    @Override
    public void ended(int rows, Throwable error) {
        long now = System.nanoTime();
        if (error == null) {
            recording.completed(index, rows, intended, sent, now);
        } else {
            failed(worker.client().kind(error), error, now);
        }
        worker.release(now);
    }

    private void failed(ErrorKind kind, Throwable error, long now) {
        recording.failed(index, kind, intended, now);
        if (ErrorKind.EXPLAINED.contains(kind)) {
            recording.remarks.failed(worker.client(), operation, command, kind, error);
        }
    }
}
