package plimsoll.stress.workloads;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import plimsoll.stress.core.Lane;
import plimsoll.stress.core.Option;
import plimsoll.stress.core.Options;
import plimsoll.stress.core.Source;
import plimsoll.stress.core.distribution.Distribution;
import plimsoll.stress.core.distribution.Distributions;
import plimsoll.stress.core.distribution.Numbers;
import plimsoll.stress.core.distribution.Scrambled;
import plimsoll.stress.core.distribution.Zipf;

/**
 * The keys of YCSB's workloads, chosen as its {@code CoreWorkload} chooses them. Every client thread inserts numbers of
 * its own, so that each run is the same; YCSB's threads share one counter. So requests ask for the populated rows and the
 * thread's own.
 */
final class YcsbKeys {
    private static final double CONSTANT = 0.99;

    private final Options options;
    private final long records;
    private final boolean hashed;
    private final Map<Lane, long[]> inserted = new ConcurrentHashMap<>();

    YcsbKeys(Options options) {
        this.options = options;
        this.records = options.count("recordcount");
        this.hashed = options.text("insertorder").equals("hashed");
    }

    static List<Option> options(String requests) {
        return List.of(
                Option.choice(
                        "requestdistribution",
                        requests,
                        List.of("uniform", "zipfian", "latest", "hotspot", "exponential", "sequential"),
                        "How keys to ask for are drawn"),
                Option.count("operationcount", 1000L, 0, "Of which `insertproportion`, doubled, says how many keys zipfian "
                        + "requests count on beside the populated ones: it decides which keys are hot"),
                Option.number("hotspotdatafraction", 0.2, 0, 1, "Part of the rows that is hot"),
                Option.number("hotspotopnfraction", 0.8, 0, 1, "Share of the operations that ask for hot rows"),
                Option.number("exponential.percentile", 95.0, 1, 99.999, "Per cent of the operations that"),
                Option.number("exponential.frac", 0.8571428571, 1e-9, 1, "ask for this part of the rows, the newest"));
    }

    /** YCSB's text for the number of a row. */
    String key(long number) {
        return "user" + (hashed ? Scrambled.hash(number) : number);
    }

    Source requested() {
        return Sources.of(distribution(), this::key);
    }

    Source inserted() {
        Distribution next = lane -> {
            long[] count = count(lane);
            return random -> records + lane.index + lane.count * count[0]++;
        };
        return Sources.of(next, this::key);
    }

    private Distribution distribution() {
        switch (options.text("requestdistribution")) {
            case "zipfian":
                Numbers hot = Distributions.scrambled(0, records + expected(), CONSTANT);
                return lane -> zipfian(hot, lane);
            case "latest":
                return this::latest;
            case "hotspot":
                return of("hotspot", "hot_set", "hotspotdatafraction", "hot_share", "hotspotopnfraction");
            case "exponential":
                return this::exponential;
            case "sequential":
                return of("sequence");
            default:
                return of("uniform");
        }
    }

    /** The number of inserts that YCSB counts on: twice those of a run. */
    private long expected() {
        return (long) (options.count("operationcount") * options.number("insertproportion") * 2);
    }

    /** Draws again where the number is that of no row yet. */
    private Numbers zipfian(Numbers hot, Lane lane) {
        long[] count = count(lane);
        return random -> {
            while (true) {
                long number = hot.next(random);
                long own = (number - records - lane.index) / lane.count;
                boolean inserted = number == records + lane.index + own * lane.count && own < count[0];
                if (number < records || inserted) {
                    return number;
                }
            }
        };
    }

    /** YCSB's ranks are one fewer than there are rows: it never asks for the oldest one. */
    private Numbers latest(Lane lane) {
        Zipf ranks = new Zipf(Math.max(1, records - 1), CONSTANT);
        long[] count = count(lane);
        long[] known = {0};
        return random -> {
            while (known[0] < count[0]) {
                known[0]++;
                ranks.grow();
            }
            return newest(ranks.next(random), known[0], lane);
        };
    }

    /** Ages from the newest row, which is the most popular, back; drawn again where no row is so old. */
    private Numbers exponential(Lane lane) {
        double decay = -Math.log(1 - options.number("exponential.percentile") / 100)
                / (options.number("exponential.frac") * records);
        long[] count = count(lane);
        return random -> {
            while (true) {
                double age = -Math.log(1 - random.nextDouble()) / decay;
                if (age < records + count[0]) {
                    return newest((long) age, count[0], lane);
                }
            }
        };
    }

    /** Returns the number of the row that is so many rows older than the newest, of the thread's own and the populated. */
    private long newest(long age, long own, Lane lane) {
        return age < own ? records + lane.index + lane.count * (own - 1 - age) : records - 1 - (age - own);
    }

    private long[] count(Lane lane) {
        return inserted.computeIfAbsent(lane, one -> new long[1]);
    }

    private Distribution of(String name, String... parameters) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put(Distributions.NAME, name);
        given.put("max", records - 1);
        for (int p = 0; p < parameters.length; p += 2) {
            given.put(parameters[p], options.number(parameters[p + 1]));
        }
        return Distributions.of(given);
    }
}
