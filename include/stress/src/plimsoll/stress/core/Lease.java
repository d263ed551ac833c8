package plimsoll.stress.core;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Objects;

/**
 * Ends the run when nobody has written a file anew for some time: whoever watches the load does so at every look.
 *
 * <p>It counts its own looks, not the clock: after the whole machine stood still, the watcher has the time that it had
 * before.
 */
final class Lease implements AutoCloseable {
    private static final long GLANCE_MILLIS = 1_000;

    private final Path file;
    private final long looks;
    private final Stop stop;
    private final Thread thread = new Thread(this::watch, "lease");

    /** @param file null: the run needs nobody who watches */
    Lease(Path file, Duration length, Stop stop) {
        this.file = file;
        this.looks = Math.max(1, length.toMillis() / GLANCE_MILLIS);
        this.stop = stop;
        if (file != null) {
            thread.setDaemon(true);
            thread.start();
        }
    }

    @Override
    public void close() {
        thread.interrupt();
    }

    private void watch() {
        FileTime seen = written();
        long unchanged = 0;
        while (unchanged < looks) {
            try {
                Thread.sleep(GLANCE_MILLIS);
            } catch (InterruptedException theRunIsOver) {
                return;
            }
            FileTime now = written();
            unchanged = Objects.equals(now, seen) ? unchanged + 1 : 0;
            seen = now;
        }
        stop.request(ExitCode.INCOMPLETE, "nobody has looked at the load for " + looks + " s");
    }

    private FileTime written() {
        try {
            return Files.getLastModifiedTime(file);
        } catch (IOException missing) {
            return null;
        }
    }
}
