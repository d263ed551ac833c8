package plimsoll.stress.workloads;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import plimsoll.stress.core.Command;
import plimsoll.stress.core.Field;
import plimsoll.stress.core.Operation;
import plimsoll.stress.core.Option;
import plimsoll.stress.core.Options;
import plimsoll.stress.core.Population;
import plimsoll.stress.core.Share;
import plimsoll.stress.core.Workload;
import plimsoll.stress.core.WorkloadType;
import plimsoll.stress.core.distribution.Distribution;
import plimsoll.stress.core.distribution.Scrambled;

/**
 * NoSQLBench's `cql-iot` of April 2021: machines whose sensors report. The timed run counts its cycles from 0 again, so it
 * first reads and overwrites the populated rows, with their own timestamps. NoSQLBench takes names of sensors and texts
 * from files of words; here they are numbers and letters.
 */
final class TimeSeries implements WorkloadType {
    private static final String TABLE = "CREATE TABLE IF NOT EXISTS {keyspace}.iot (machine_id uuid, sensor_name text, "
            + "time timestamp, sensor_value double, station_id uuid, data text, "
            + "PRIMARY KEY ((machine_id, sensor_name), time)) WITH CLUSTERING ORDER BY (time DESC) "
            + "AND compression = {'class': 'LZ4Compressor'} AND compaction = {'class': 'TimeWindowCompactionStrategy', "
            + "'compaction_window_unit': 'MINUTES', 'compaction_window_size': 60}";
    private static final String WRITE = "INSERT INTO {keyspace}.iot "
            + "(machine_id, sensor_name, time, sensor_value, station_id, data) "
            + "VALUES (:machine, :sensor, :time, :reading, :station, :text) USING TIMESTAMP :written";
    private static final String READ =
            "SELECT * FROM {keyspace}.iot WHERE machine_id = :machine AND sensor_name = :sensor LIMIT 10";

    @Override
    public String name() {
        return "TimeSeries";
    }

    @Override
    public String about() {
        return "NoSQLBench's baseline cql-iot of April 2021: sensors of machines report, nine writes for each read of the "
                + "newest 10 rows.";
    }

    @Override
    public List<Option> options() {
        return List.of(
                Option.count("rows", 10_000_000L, 0, "Rows to populate (NoSQLBench: rampup-cycles)"),
                Option.count("first_cycle", 0L, 0, "Cycle with which the timed run begins. 0, as in NoSQLBench: the populated "
                        + "rows are read and written again in their order, then new ones; the number of `rows`: new ones only"),
                Option.count("sources", 10_000L, 1, "Machines"),
                Option.count("sensors", 100L, 1, "Names of sensors (NoSQLBench: a file of words)"),
                Option.count("stations", 100L, 1, "Stations"),
                Option.count("timespeed", 100L, 1, "Milliseconds from one report of a machine to the next"),
                Option.number("reads", 1.0, 0, 1e6, "Weight of reads"),
                Option.number("writes", 9.0, 0, 1e6, "Weight of writes"));
    }

    @Override
    public Workload make(Options options) {
        long rows = options.count("rows");
        Distribution written = Sources.row(rows);
        // Reads and writes take their cycles from one count, so they share their fields.
        List<Field> next = row(new Shared(Sources.from(options.count("first_cycle"))), options);
        Operation reads = Operation.named("reads")
                .share(Share.option("reads", options))
                .statements(READ)
                .fields(next.subList(0, 2))
                .build();
        Operation writes = Operation.named("writes")
                .share(Share.option("writes", options))
                .statements(WRITE)
                .fields(next)
                .build();
        Operation populate = Operation.named("writes")
                .statements(WRITE)
                .fields(row(new Shared(written), options))
                .build();
        Operation readBack = Operation.named("reads")
                .statements(READ)
                .fields(partition(new Shared(written), options))
                .build();
        return new Workload(
                name(),
                List.of(new Command(TABLE, "table iot")),
                List.of(reads, writes),
                Population.numbered(populate, rows, readBack));
    }

    private static List<Field> partition(Shared cycle, Options options) {
        long sources = options.count("sources");
        long sensors = options.count("sensors");
        List<Field> fields = new ArrayList<>();
        fields.add(Sources.field("machine", cycle.first(number -> uuid(number % sources))));
        fields.add(Sources.field("sensor", cycle.again(number -> "sensor-" + Scrambled.hash(number) % sensors)));
        return fields;
    }

    private static List<Field> row(Shared cycle, Options options) {
        long sources = options.count("sources");
        long speed = options.count("timespeed");
        List<Field> fields = partition(cycle, options);
        fields.add(Sources.field("time", cycle.again(number -> number * speed / sources)));
        fields.add(Sources.field("reading", Sources.gaussian(100, 5)));
        fields.add(Sources.field(
                "station", cycle.again(number -> uuid(number / sources % options.count("stations")))));
        fields.add(Sources.field("text", Sources.letters(Sources.uniform(800, 1200))));
        fields.add(Sources.field("written", cycle.again(number -> number * speed / sources * 1000)));
        return fields;
    }

    private static UUID uuid(long number) {
        long hash = Scrambled.hash(number);
        return new UUID((hash & ~0xF000L) | 0x4000L, (Scrambled.hash(hash) >>> 2) | 0x8000000000000000L);
    }
}
