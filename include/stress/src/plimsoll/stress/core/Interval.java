package plimsoll.stress.core;

import java.util.List;
import org.HdrHistogram.Histogram;

/** The operations that ended and that were sent in one second. Histograms are in microseconds. */
final class Interval {
    final List<Operation> operations;
    /** By operation: from the send to the answer. */
    final Histogram[] service;
    /** By operation: from the intended start to the answer. */
    final Histogram[] response;
    /** By kind of error: from the intended start to the failure. */
    final Histogram[] failed = new Histogram[ErrorKind.ALL.length];
    /** By operation: rows that answers had, or that were written. */
    final long[] rows;
    /** Number of failures, by operation and kind of error. */
    final long[][] errors;
    /** Time from the instant at which an operation could be sent until it was sent. */
    Histogram lag;

    Interval(List<Operation> operations) {
        this.operations = operations;
        service = new Histogram[operations.size()];
        response = new Histogram[operations.size()];
        rows = new long[operations.size()];
        errors = new long[operations.size()][ErrorKind.ALL.length];
    }

    void add(Interval other) {
        for (int o = 0; o < response.length; o++) {
            service[o].add(other.service[o]);
            response[o].add(other.response[o]);
            rows[o] += other.rows[o];
            for (int k = 0; k < ErrorKind.ALL.length; k++) {
                errors[o][k] += other.errors[o][k];
            }
        }
        for (int k = 0; k < ErrorKind.ALL.length; k++) {
            failed[k].add(other.failed[k]);
        }
        lag.add(other.lag);
    }

    /** Returns the number of answered operations. */
    long completed() {
        long sum = 0;
        for (Histogram histogram : response) {
            sum += histogram.getTotalCount();
        }
        return sum;
    }

    /** Returns the number of failed operations. */
    long failures() {
        long sum = 0;
        for (ErrorKind kind : ErrorKind.ALL) {
            sum += errors(kind);
        }
        return sum;
    }

    /** Returns the number of operations that failed with this kind of error. */
    long errors(ErrorKind kind) {
        long sum = 0;
        for (long[] byKind : errors) {
            sum += byKind[kind.ordinal()];
        }
        return sum;
    }
}
