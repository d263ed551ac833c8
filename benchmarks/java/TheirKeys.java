import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import org.apache.cassandra.stress.generate.Distribution;
import org.apache.cassandra.stress.settings.OptionDistribution;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.generator.CounterGenerator;
import site.ycsb.generator.ExponentialGenerator;
import site.ycsb.generator.HotspotIntegerGenerator;
import site.ycsb.generator.NumberGenerator;
import site.ycsb.generator.ScrambledZipfianGenerator;
import site.ycsb.generator.SkewedLatestGenerator;
import site.ycsb.generator.UniformLongGenerator;
import site.ycsb.generator.ZipfianGenerator;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/** Numbers that YCSB's and cassandra-stress' own generators draw, one on a line: SPEC MAX COUNT. */
final class TheirKeys {
    public static void main(String[] words) throws Exception {
        long max = Long.parseLong(words[1]);
        long count = Long.parseLong(words[2]);
        StringBuilder lines = new StringBuilder();
        if (words[0].startsWith("core:")) {
            core(words[0].split(":"), max + 1, count, lines);
        } else if (words[0].startsWith("stress:")) {
            Distribution drawn = OptionDistribution.get(words[0].substring("stress:".length())).get();
            for (long n = 0; n < count; n++) {
                lines.append(drawn.next()).append('\n');
            }
        } else {
            NumberGenerator drawn = ycsb(words[0], max);
            for (long n = 0; n < count; n++) {
                lines.append(drawn.nextValue().longValue()).append('\n');
            }
        }
        System.out.print(lines);
    }

    /** The rows that the whole CoreWorkload asks for, with its reads and so many inserts: core:DISTRIBUTION:INSERTS. */
    private static void core(String[] spec, long records, long count, StringBuilder lines) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("recordcount", String.valueOf(records));
        properties.setProperty("operationcount", String.valueOf(count));
        properties.setProperty("requestdistribution", spec[1]);
        properties.setProperty("readproportion", String.valueOf(1 - Double.parseDouble(spec[2])));
        properties.setProperty("updateproportion", "0");
        properties.setProperty("insertproportion", spec[2]);
        properties.setProperty("insertorder", "ordered");
        Measurements.setProperties(properties);
        CoreWorkload workload = new CoreWorkload();
        workload.init(properties);
        DB database = new Recorder(lines);
        for (long n = 0; n < count; n++) {
            workload.doTransaction(database, null);
        }
    }

    /** A database that answers everything and writes down what is read. */
    private static final class Recorder extends DB {
        private final StringBuilder lines;

        Recorder(StringBuilder lines) {
            this.lines = lines;
        }

        @Override
        public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
            lines.append(key.substring("user".length())).append('\n');
            return Status.OK;
        }

        @Override
        public Status scan(
                String table,
                String key,
                int count,
                Set<String> fields,
                Vector<HashMap<String, ByteIterator>> result) {
            return Status.OK;
        }

        @Override
        public Status update(String table, String key, Map<String, ByteIterator> values) {
            return Status.OK;
        }

        @Override
        public Status insert(String table, String key, Map<String, ByteIterator> values) {
            return Status.OK;
        }

        @Override
        public Status delete(String table, String key) {
            return Status.OK;
        }
    }

    /** As CoreWorkload makes them for so many records. */
    private static NumberGenerator ycsb(String name, long max) {
        switch (name) {
            case "zipfian":
                return new ZipfianGenerator(0, max, 0.99);
            case "scrambled":
                return new ScrambledZipfianGenerator(0, max);
            case "latest":
                CounterGenerator records = new CounterGenerator(0);
                for (long n = 0; n <= max; n++) {
                    records.nextValue();
                }
                return new SkewedLatestGenerator(records);
            case "exponential":
                return new ExponentialGenerator(95, (max + 1) * 0.857);
            case "hotspot":
                return new HotspotIntegerGenerator(0, (int) max, 0.2, 0.8);
            default:
                return new UniformLongGenerator(0, max);
        }
    }
}
