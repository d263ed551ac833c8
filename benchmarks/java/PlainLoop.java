import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.uuid.Uuids;
import java.net.InetSocketAddress;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * The yardstick of the load generator's cost: a paced loop on the java-driver, as its manual shows it, that records
 * nothing. One thread, the driver's own settings, the statements and the mix of the BasicTimeSeries workload.
 *
 * <p>Arguments: host, port, data centre, rate (ops/s), duration (s). Keyspace {@code tlp_stress} must exist.
 */
public final class PlainLoop {
    private static final int IN_FLIGHT = 400;
    private static final String LETTERS = text(1 << 16);

    public static void main(String[] arguments) throws InterruptedException {
        InetSocketAddress contact = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
        long rate = Long.parseLong(arguments[3]);
        long total = rate * Long.parseLong(arguments[4]);
        try (CqlSession session = CqlSession.builder()
                .addContactPoint(contact)
                .withLocalDatacenter(arguments[2])
                .withKeyspace("tlp_stress")
                .build()) {
            System.out.println("errors " + loop(session, rate, total));
        }
    }

    private static long loop(CqlSession session, long rate, long total) throws InterruptedException {
        PreparedStatement insert =
                session.prepare("INSERT INTO sensor_data (sensor_id, timestamp, data) VALUES (?, ?, ?)");
        PreparedStatement select = session.prepare("SELECT * FROM sensor_data WHERE sensor_id = ? LIMIT 500");
        Semaphore inFlight = new Semaphore(IN_FLIGHT);
        LongAdder errors = new LongAdder();
        ThreadLocalRandom random = ThreadLocalRandom.current();
        long start = System.nanoTime();
        for (long n = 0; n < total; n++) {
            long due = start + n * 1_000_000_000L / rate;
            for (long wait = due - System.nanoTime(); wait > 0; wait = due - System.nanoTime()) {
                LockSupport.parkNanos(wait);
            }
            String key = "001.0." + n;
            BoundStatement statement =
                    random.nextInt(100) < 20 ? select.bind(key) : insert.bind(key, Uuids.timeBased(), slice(random));
            inFlight.acquire();
            session.executeAsync(statement).whenComplete((rows, error) -> {
                inFlight.release();
                if (error != null) {
                    errors.increment();
                }
            });
        }
        inFlight.acquire(IN_FLIGHT);
        return errors.sum();
    }

    private static String slice(ThreadLocalRandom random) {
        int from = random.nextInt(LETTERS.length() - 200);
        return LETTERS.substring(from, from + random.nextInt(100, 200));
    }

    private static String text(int length) {
        StringBuilder text = new StringBuilder(length);
        for (int i = 0; i < length; i++) {
            text.append((char) ThreadLocalRandom.current().nextInt('A', 'Z' + 1));
        }
        return text.toString();
    }
}
