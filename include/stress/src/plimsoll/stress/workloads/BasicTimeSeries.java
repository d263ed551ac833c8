package plimsoll.stress.workloads;

import java.util.List;
import plimsoll.stress.core.Command;
import plimsoll.stress.core.Field;
import plimsoll.stress.core.Operation;
import plimsoll.stress.core.Option;
import plimsoll.stress.core.Options;
import plimsoll.stress.core.PartitionKeys;
import plimsoll.stress.core.Population;
import plimsoll.stress.core.RandomText;
import plimsoll.stress.core.Share;
import plimsoll.stress.core.Source;
import plimsoll.stress.core.Values;
import plimsoll.stress.core.Workload;
import plimsoll.stress.core.WorkloadType;

/**
 * tlp-stress' BasicTimeSeries: a write adds a row of 100 to 199 random capital letters to a partition at the present
 * time; a read asks for a partition's newest 500 rows.
 */
final class BasicTimeSeries implements WorkloadType {
    private static final int SHORTEST = 100;
    private static final int LONGEST = 199;
    private static final String TABLE = "CREATE TABLE IF NOT EXISTS {keyspace}.sensor_data "
            + "(sensor_id text, timestamp timeuuid, data text, PRIMARY KEY (sensor_id, timestamp)) "
            + "WITH CLUSTERING ORDER BY (timestamp DESC)";
    private static final String WRITE =
            "INSERT INTO {keyspace}.sensor_data (sensor_id, timestamp, data) VALUES (:key, :time, :text)";
    private static final String READ = "SELECT * FROM {keyspace}.sensor_data WHERE sensor_id = :key LIMIT 500";

    @Override
    public String name() {
        return "BasicTimeSeries";
    }

    @Override
    public String about() {
        return "tlp-stress' workload of that name: a write adds a row of 100 to 199 letters to a partition at the present "
                + "time, a read asks for a partition's newest 500 rows.";
    }

    @Override
    public List<Option> options() {
        return List.of(
                Option.number("read_share", 0.01, 0, 1, "Share of reads among all operations"),
                Option.count("partitions", 1_000_000L, 1, "Highest number in a partition key"),
                Option.choice(
                        "partition_generator", "random", PartitionKeys.CHOICES, "How partition keys follow one another"),
                Option.count("populate", 0L, 0, "Rows that each thread writes before the timed run"),
                Option.text("id", "001", "First part of every partition key"),
                Option.count("seed", 1L, 0, "Seed of the texts"));
    }

    @Override
    public Workload make(Options options) {
        String generator = options.text("partition_generator");
        Source keys = PartitionKeys.source(generator, options.text("id"), options.count("partitions"));
        RandomText text = new RandomText(options.count("seed"));
        Source letters = lane -> random -> text.next(random, SHORTEST, LONGEST);
        Operation writes = Operation.named("writes")
                .called("mutations", "Mutations")
                .share(Share.rest())
                .statements(WRITE)
                .fields(
                        new Field("key", keys),
                        new Field("time", lane -> random -> Values.NOW),
                        new Field("text", letters))
                .build();
        Operation reads = Operation.named("reads")
                .called("selects", "Reads")
                .share(Share.option("read_share", options))
                .statements(READ)
                .fields(new Field("key", keys))
                .build();
        return new Workload(
                name(),
                List.of(new Command(TABLE, "table sensor_data")),
                List.of(writes, reads),
                Population.continued(writes, options.count("populate")));
    }
}
