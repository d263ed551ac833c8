package plimsoll.stress.core;

import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import org.HdrHistogram.AtomicHistogram;
import org.HdrHistogram.Histogram;

/** The results that the driver's threads record during one second, in microseconds. */
final class Slot {
    private final AtomicLongArray errors;
    private final AtomicLongArray rows;
    private final Interval interval;

    Slot(List<Operation> operations) {
        errors = new AtomicLongArray(operations.size() * ErrorKind.ALL.length);
        rows = new AtomicLongArray(operations.size());
        interval = new Interval(operations);
        fill(interval.service, 3);
        fill(interval.response, 3);
        fill(interval.failed, 2);
        interval.lag = histogram(2);
    }

    void completed(int operation, int count, long responseMicros, long serviceMicros) {
        rows.addAndGet(operation, count);
        interval.response[operation].recordValue(responseMicros);
        interval.service[operation].recordValue(serviceMicros);
    }

    void failed(ErrorKind kind, long micros) {
        interval.failed[kind.ordinal()].recordValue(micros);
    }

    void count(int operation, ErrorKind kind) {
        errors.incrementAndGet(operation * ErrorKind.ALL.length + kind.ordinal());
    }

    void lag(long micros) {
        interval.lag.recordValue(micros);
    }

    /** Returns all results. They are the slot's own: whoever keeps them must not let threads record in it. */
    Interval read() {
        for (int o = 0; o < interval.rows.length; o++) {
            interval.rows[o] = rows.get(o);
            for (int k = 0; k < ErrorKind.ALL.length; k++) {
                interval.errors[o][k] = errors.get(o * ErrorKind.ALL.length + k);
            }
        }
        return interval;
    }

    /** Removes all results. */
    void reset() {
        for (int o = 0; o < interval.rows.length; o++) {
            interval.service[o].reset();
            interval.response[o].reset();
            rows.set(o, 0);
        }
        for (int e = 0; e < errors.length(); e++) {
            errors.set(e, 0);
        }
        for (Histogram failed : interval.failed) {
            failed.reset();
        }
        interval.lag.reset();
    }

    private static void fill(Histogram[] histograms, int digits) {
        for (int i = 0; i < histograms.length; i++) {
            histograms[i] = histogram(digits);
        }
    }

    private static Histogram histogram(int digits) {
        return new AtomicHistogram(1, Recording.HIGHEST, digits);
    }
}
