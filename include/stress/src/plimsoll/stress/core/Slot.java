package plimsoll.stress.core;

import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import org.HdrHistogram.Recorder;

/** The results that the driver's threads record during one second, in microseconds. */
final class Slot {
    private final Recorder[] service;
    private final Recorder[] response;
    private final Recorder[] failed = recorders(ErrorKind.ALL.length, 2);
    private final Recorder lag = new Recorder(1, Recording.HIGHEST, 2);
    private final AtomicLongArray errors;
    private final AtomicLongArray rows;
    private final Interval interval;

    Slot(List<Operation> operations) {
        service = recorders(operations.size(), 3);
        response = recorders(operations.size(), 3);
        errors = new AtomicLongArray(operations.size() * ErrorKind.ALL.length);
        rows = new AtomicLongArray(operations.size());
        interval = new Interval(operations);
    }

    void completed(int operation, int count, long responseMicros, long serviceMicros) {
        rows.addAndGet(operation, count);
        response[operation].recordValue(responseMicros);
        service[operation].recordValue(serviceMicros);
    }

    void failed(ErrorKind kind, long micros) {
        failed[kind.ordinal()].recordValue(micros);
    }

    void count(int operation, ErrorKind kind) {
        errors.incrementAndGet(operation * ErrorKind.ALL.length + kind.ordinal());
    }

    void lag(long micros) {
        lag.recordValue(micros);
    }

    /** Removes and returns all results. The next call overwrites the returned interval. */
    Interval take() {
        for (int o = 0; o < response.length; o++) {
            interval.service[o] = service[o].getIntervalHistogram(interval.service[o]);
            interval.response[o] = response[o].getIntervalHistogram(interval.response[o]);
            interval.rows[o] = rows.getAndSet(o, 0);
            for (int k = 0; k < ErrorKind.ALL.length; k++) {
                interval.errors[o][k] = errors.getAndSet(o * ErrorKind.ALL.length + k, 0);
            }
        }
        for (int k = 0; k < ErrorKind.ALL.length; k++) {
            interval.failed[k] = failed[k].getIntervalHistogram(interval.failed[k]);
        }
        interval.lag = lag.getIntervalHistogram(interval.lag);
        return interval;
    }

    private static Recorder[] recorders(int count, int digits) {
        Recorder[] recorders = new Recorder[count];
        for (int i = 0; i < count; i++) {
            recorders[i] = new Recorder(1, Recording.HIGHEST, digits);
        }
        return recorders;
    }
}
