package plimsoll.stress;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import java.util.List;
import java.util.SplittableRandom;

/** What is stored and asked: a schema and two kinds of statement. One instance serves all threads. */
interface Workload {
    List<String> NAMES = List.of("BasicTimeSeries");

    /** Statements that create the tables in a keyspace, if they do not exist. */
    List<String> schema(String keyspace);

    /** Prepares the statements for the tables in a keyspace. */
    Statements prepare(CqlSession session, String keyspace);

    /** A workload's prepared statements; safe to use from several threads, each with its own source of chance. */
    interface Statements {
        BoundStatement mutation(String key, SplittableRandom random);

        BoundStatement select(String key);
    }

    /** The workload of that name, one of {@link #NAMES}. */
    static Workload named(String name, long seed) {
        if (name.equals("BasicTimeSeries")) {
            return new BasicTimeSeries(new RandomText(seed));
        }
        throw new IllegalArgumentException(name);
    }
}
