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
 * The keys of YCSB's workloads. Every client thread inserts numbers of its own, so that each run is the same; YCSB's
 * threads share one counter. {@code latest} chooses among the populated rows and the thread's own.
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
                Option.number("hotspotdatafraction", 0.2, 0, 1, "Part of the rows that is hot"),
                Option.number("hotspotopnfraction", 0.8, 0, 1, "Share of the operations that ask for hot rows"),
                Option.number("exponential.percentile", 95.0, 1, 99.999, "Per cent of the operations that"),
                Option.number("exponential.frac", 0.8571428571, 1e-9, 1, "ask for this part of the rows"));
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
                return Distribution.of(Distributions.scrambled(0, records - 1, CONSTANT));
            case "latest":
                return this::latest;
            case "hotspot":
                return of("hotspot", "hot_set", "hotspotdatafraction", "hot_share", "hotspotopnfraction");
            case "exponential":
                return of("exponential", "percentile", "exponential.percentile", "fraction", "exponential.frac");
            case "sequential":
                return of("sequence");
            default:
                return of("uniform");
        }
    }

    private Numbers latest(Lane lane) {
        Zipf ranks = new Zipf(records, CONSTANT);
        long[] count = count(lane);
        long[] known = {0};
        return random -> {
            while (known[0] < count[0]) {
                known[0]++;
                ranks.grow();
            }
            long rank = ranks.next(random);
            return rank < known[0] ? records + lane.index + lane.count * (known[0] - 1 - rank) : records - 1 - (rank - known[0]);
        };
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
