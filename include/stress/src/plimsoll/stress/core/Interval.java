package plimsoll.stress.core;

import java.util.List;
import org.HdrHistogram.Histogram;

/** What ended, and what was sent, in one second; histograms in microseconds. */
final class Interval {
    final List<Operation> operations;
    /** By operation: from the send to the answer. */
    final Histogram[] service;
    /** By operation: from the intended start to the answer. */
    final Histogram[] response;
    /** By kind of error: from the intended start to the failure. */
    final Histogram[] failed = new Histogram[ErrorKind.ALL.length];
    /** By operation and kind of error: how many. */
    final long[][] errors;
    /** From the instant at which an operation could be sent to its send. */
    Histogram lag;

    Interval(List<Operation> operations) {
        this.operations = operations;
        service = new Histogram[operations.size()];
        response = new Histogram[operations.size()];
        errors = new long[operations.size()][ErrorKind.ALL.length];
    }

    void add(Interval other) {
        for (int o = 0; o < response.length; o++) {
            service[o].add(other.service[o]);
            response[o].add(other.response[o]);
            for (int k = 0; k < ErrorKind.ALL.length; k++) {
                errors[o][k] += other.errors[o][k];
            }
        }
        for (int k = 0; k < ErrorKind.ALL.length; k++) {
            failed[k].add(other.failed[k]);
        }
        lag.add(other.lag);
    }

    /** Operations that were answered. */
    long completed() {
        long sum = 0;
        for (Histogram histogram : response) {
            sum += histogram.getTotalCount();
        }
        return sum;
    }

    /** Operations that failed. */
    long failures() {
        long sum = 0;
        for (ErrorKind kind : ErrorKind.ALL) {
            sum += errors(kind);
        }
        return sum;
    }

    /** Operations that failed in one way. */
    long errors(ErrorKind kind) {
        long sum = 0;
        for (long[] byKind : errors) {
            sum += byKind[kind.ordinal()];
        }
        return sum;
    }
}
