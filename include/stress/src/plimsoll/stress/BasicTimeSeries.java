package plimsoll.stress;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.uuid.Uuids;
import java.util.List;
import java.util.SplittableRandom;

/**
 * tlp-stress' BasicTimeSeries: a write adds a row of 100 to 199 random capital letters to a partition at the present
 * time; a read asks for a partition's newest 500 rows.
 */
final class BasicTimeSeries implements Workload {
    private static final int SHORTEST = 100;
    private static final int LONGEST = 199;

    private final RandomText text;

    BasicTimeSeries(RandomText text) {
        this.text = text;
    }

    @Override
    public List<String> schema(String keyspace) {
        return List.of("CREATE TABLE IF NOT EXISTS " + keyspace
                + ".sensor_data (sensor_id text, timestamp timeuuid, data text, "
                + "PRIMARY KEY (sensor_id, timestamp)) WITH CLUSTERING ORDER BY (timestamp DESC)");
    }

    @Override
    public Statements prepare(CqlSession session, String keyspace) {
        String table = keyspace + ".sensor_data";
        PreparedStatement insert =
                session.prepare("INSERT INTO " + table + " (sensor_id, timestamp, data) VALUES (?, ?, ?)");
        PreparedStatement select = session.prepare("SELECT * FROM " + table + " WHERE sensor_id = ? LIMIT 500");
        // The first one looks up this machine's names, which can take seconds: not in the timed run.
        Uuids.timeBased();
        return new Statements() {
            @Override
            public BoundStatement mutation(String key, SplittableRandom random) {
                return insert.bind(key, Uuids.timeBased(), text.next(random, SHORTEST, LONGEST));
            }

            @Override
            public BoundStatement select(String key) {
                return select.bind(key);
            }
        };
    }
}
