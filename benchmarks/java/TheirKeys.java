import org.apache.cassandra.stress.generate.Distribution;
import org.apache.cassandra.stress.settings.OptionDistribution;
import site.ycsb.generator.CounterGenerator;
import site.ycsb.generator.ExponentialGenerator;
import site.ycsb.generator.HotspotIntegerGenerator;
import site.ycsb.generator.NumberGenerator;
import site.ycsb.generator.ScrambledZipfianGenerator;
import site.ycsb.generator.SkewedLatestGenerator;
import site.ycsb.generator.UniformLongGenerator;
import site.ycsb.generator.ZipfianGenerator;

/** Numbers that YCSB's and cassandra-stress' own generators draw, one on a line: SPEC MAX COUNT. */
final class TheirKeys {
    public static void main(String[] words) {
        long max = Long.parseLong(words[1]);
        long count = Long.parseLong(words[2]);
        StringBuilder lines = new StringBuilder();
        if (words[0].startsWith("stress:")) {
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
