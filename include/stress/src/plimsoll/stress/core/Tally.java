package plimsoll.stress.core;

import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** Sums over a part of a run. */
final class Tally {
    private final List<Operation> operations;
    private final long[] completed;
    private final long[] rows;
    private final long[][] errors;
    private final Histogram lag = new Histogram(1, 3_600_000_000L, 2);
    private double seconds;
    private double cpuSeconds;
    private long collections;
    private long collectionMillis;
    private double hiccupMillis;
    private int inFlightMax;
    private long backlogMax;

    Tally(List<Operation> operations) {
        this.operations = operations;
        completed = new long[operations.size()];
        rows = new long[operations.size()];
        errors = new long[operations.size()][ErrorKind.ALL.length];
    }

    void add(Observation observation) {
        Interval interval = observation.interval;
        for (int o = 0; o < completed.length; o++) {
            completed[o] += interval.response[o].getTotalCount();
            rows[o] += interval.rows[o];
            for (int k = 0; k < ErrorKind.ALL.length; k++) {
                errors[o][k] += interval.errors[o][k];
            }
        }
        lag.add(interval.lag);
        seconds += observation.seconds();
        cpuSeconds += observation.vitals.cpuSeconds;
        collections += observation.vitals.collections;
        collectionMillis += observation.vitals.collectionMillis;
        hiccupMillis = Math.max(hiccupMillis, observation.vitals.hiccupMillis);
        inFlightMax = Math.max(inFlightMax, observation.inFlightMax);
        backlogMax = Math.max(backlogMax, observation.backlog);
    }

    void add(Tally other) {
        for (int o = 0; o < completed.length; o++) {
            completed[o] += other.completed[o];
            rows[o] += other.rows[o];
            for (int k = 0; k < ErrorKind.ALL.length; k++) {
                errors[o][k] += other.errors[o][k];
            }
        }
        lag.add(other.lag);
        seconds += other.seconds;
        cpuSeconds += other.cpuSeconds;
        collections += other.collections;
        collectionMillis += other.collectionMillis;
        hiccupMillis = Math.max(hiccupMillis, other.hiccupMillis);
        inFlightMax = Math.max(inFlightMax, other.inFlightMax);
        backlogMax = Math.max(backlogMax, other.backlogMax);
    }

    List<Operation> operationsInOrder() {
        return operations;
    }

    double seconds() {
        return seconds;
    }

    long completed() {
        return sum(completed);
    }

    long failures() {
        long sum = 0;
        for (long[] byKind : errors) {
            sum += sum(byKind);
        }
        return sum;
    }

    /** Returns answered operations per second. */
    double achieved() {
        return seconds > 0 ? completed() / seconds : 0;
    }

    /** Returns rows per second that answers had, or that were written. */
    double rowsPerSecond() {
        return seconds > 0 ? sum(rows) / seconds : 0;
    }

    /** Returns the number of errors of every kind. Of {@code unfinished} operations only the number is known. */
    Map<String, Object> errorsByKind(long unfinished) {
        Map<String, Object> byKind = Json.object();
        for (ErrorKind kind : ErrorKind.ALL) {
            long sum = kind == ErrorKind.UNFINISHED ? unfinished : 0;
            for (long[] errorsOfOperation : errors) {
                sum += errorsOfOperation[kind.ordinal()];
            }
            byKind.put(kind.label, sum);
        }
        return byKind;
    }

    /** Returns the numbers of answered and failed operations and of the answers' rows, by operation. */
    Map<String, Object> operations() {
        Map<String, Object> byOperation = Json.object();
        for (int o = 0; o < completed.length; o++) {
            byOperation.put(
                    operations.get(o).label,
                    Json.object("completed", completed[o], "errors", sum(errors[o]), "rows", rows[o]));
        }
        return byOperation;
    }

    /** Returns the generator's own figures, which show whether it or the database could not keep up. */
    Map<String, Object> generator() {
        return Json.object(
                "schedule_lag_ms", lagMillis(lag),
                "in_flight_max", inFlightMax,
                "backlog_max", backlogMax,
                "cpu_seconds", Json.rounded(cpuSeconds),
                "cpu_cores", Json.rounded(seconds > 0 ? cpuSeconds / seconds : 0),
                "gc_count", collections,
                "gc_ms", collectionMillis,
                "hiccup_max_ms", Json.rounded(hiccupMillis));
    }

    /** Returns 99th percentile and maximum of a histogram of microseconds, in milliseconds. */
    static Map<String, Object> lagMillis(Histogram lag) {
        return Json.object(
                "p99", Json.rounded(lag.getValueAtPercentile(99) / 1e3), "max", Json.rounded(lag.getMaxValue() / 1e3));
    }

    private static long sum(long[] numbers) {
        long sum = 0;
        for (long number : numbers) {
            sum += number;
        }
        return sum;
    }
}
