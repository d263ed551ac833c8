package plimsoll.stress.core;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;

/**
 * The generator's own health, which shows whether the generator or the database could not keep up: CPU time, garbage
 * collections, and the longest time for which the machine or the JVM stood still.
 */
final class Vitals implements AutoCloseable {
    private final List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();
    private final HiccupMeter hiccups = new HiccupMeter();
    private long wall = System.nanoTime();
    private long cpu = cpuNanos();
    private long collections = collections();
    private long collectionMillis = collectionMillis();

    Vitals() {
        hiccups.start();
    }

    /** Returns the figures since the last call. */
    Sample sample() {
        long wallNow = System.nanoTime();
        long cpuNow = cpuNanos();
        long collectionsNow = collections();
        long millisNow = collectionMillis();
        Sample sample = new Sample(
                (wallNow - wall) / 1e9,
                (cpuNow - cpu) / 1e9,
                collectionsNow - collections,
                millisNow - collectionMillis,
                hiccups.takeMaximum() / 1e6);
        wall = wallNow;
        cpu = cpuNow;
        collections = collectionsNow;
        collectionMillis = millisNow;
        return sample;
    }

    /** Returns the CPU time of this process so far, in nanoseconds; 0 where the system does not report it. */
    static long cpuNanos() {
        return ProcessHandle.current().info().totalCpuDuration().map(Duration::toNanos).orElse(0L);
    }

    @Override
    public void close() {
        hiccups.close();
    }

    private long collections() {
        return collectors.stream().mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
    }

    private long collectionMillis() {
        return collectors.stream().mapToLong(GarbageCollectorMXBean::getCollectionTime).sum();
    }

    /** Differences between two looks. */
    static final class Sample {
        final double wallSeconds;
        /** CPU seconds of the whole process, all threads. */
        final double cpuSeconds;
        final long collections;
        final long collectionMillis;
        final double hiccupMillis;

        Sample(double wallSeconds, double cpuSeconds, long collections, long collectionMillis, double hiccupMillis) {
            this.wallSeconds = wallSeconds;
            this.cpuSeconds = cpuSeconds;
            this.collections = collections;
            this.collectionMillis = collectionMillis;
            this.hiccupMillis = hiccupMillis;
        }

        /** CPU used, in cores. */
        double cores() {
            return wallSeconds > 0 ? cpuSeconds / wallSeconds : 0;
        }
    }
}
