package plimsoll.stress.core.distribution;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import plimsoll.stress.core.Option;
import plimsoll.stress.core.Options;

/** All distributions by name, with their parameters. */
public final class Distributions {
    /** The key that names a distribution among its parameters. */
    public static final String NAME = "distribution";

    public static final List<Kind> ALL = List.of(
            new Kind(
                    "sequence",
                    "Every number of the range in turn, then from its beginning again; threads together leave out none",
                    List.of(min(), max()),
                    given -> new Sequence(given.count("min"), given.count("max"))),
            new Kind(
                    "uniform",
                    "Every number of the range as often",
                    List.of(min(), max()),
                    given -> Distribution.of(uniform(given.count("min"), given.count("max")))),
            new Kind(
                    "normal",
                    "Gauss' bell, rounded; by Box and Muller (1958)",
                    List.of(
                            min(),
                            max(),
                            Option.number("mean", null, -1e18, 1e18, "Mean; by default the range's middle")
                                    .orNone(),
                            Option.number("deviation", null, 1e-9, 1e18, "Standard deviation; by default half of the "
                                            + "range over 3, as cassandra-stress has it")
                                    .orNone(),
                            Option.choice(
                                    "outside",
                                    "redraw",
                                    List.of("redraw", "clamp"),
                                    "What falls outside of the range: drawn again, or its bound (cassandra-stress)")),
                    given -> Distribution.of(normal(given))),
            new Kind(
                    "zipfian",
                    "The n-th most popular number in proportion to 1 / n^constant; by Gray et al. (1994), as YCSB has it",
                    List.of(
                            min(),
                            max(),
                            constant(),
                            Option.bool(
                                    "scrambled",
                                    false,
                                    "Popular numbers lie anywhere in the range, by YCSB's hash, instead of at its beginning")),
                    given -> Distribution.of(zipfian(given))),
            new Kind(
                    "latest",
                    "As zipfian, but the range's end is the most popular",
                    List.of(min(), max(), constant()),
                    given -> Distribution.of(latest(given))),
            new Kind(
                    "exponential",
                    "Falls off from the range's beginning: `percentile` per cent lie in its first `fraction` (YCSB's "
                            + "generator; its workloads count from the newest row back)",
                    List.of(
                            min(),
                            max(),
                            Option.number("percentile", 95.0, 1, 99.999, "Per cent of the numbers"),
                            Option.number("fraction", 0.8571428571, 1e-9, 1, "Part of the range")),
                    given -> Distribution.of(exponential(given))),
            new Kind(
                    "hotspot",
                    "A share of the numbers from the first part of the range, the others from the rest; both uniform",
                    List.of(
                            min(),
                            max(),
                            Option.number("hot_set", 0.2, 0, 1, "Part of the range that is hot"),
                            Option.number("hot_share", 0.8, 0, 1, "Share of the numbers that are hot")),
                    given -> Distribution.of(hotspot(given))),
            new Kind(
                    "fixed",
                    "Always one number",
                    List.of(Option.count("value", null, 0, "The number")),
                    given -> {
                        long value = given.count("value");
                        return Distribution.of(random -> value);
                    }));

    private Distributions() {}

    /** Returns a distribution with its parameters. Throws IllegalArgumentException for wrong parameters. */
    public static Distribution of(Map<String, ?> parameters) {
        Kind kind = named(String.valueOf(parameters.get(NAME)));
        Options options = options(kind, parameters);
        if (options.has("min") && options.count("min") > options.count("max")) {
            throw new IllegalArgumentException("distribution " + kind.name + ": min lies above max");
        }
        return kind.make.apply(options);
    }

    /** Returns the least and the largest number of a distribution with these parameters. */
    public static List<Long> bounds(Map<String, ?> parameters) {
        Options options = options(named(String.valueOf(parameters.get(NAME))), parameters);
        return options.has("value")
                ? List.of(options.count("value"))
                : List.of(options.count("min"), options.count("max"));
    }

    private static Options options(Kind kind, Map<String, ?> parameters) {
        Map<String, Object> given = new LinkedHashMap<>(parameters);
        given.remove(NAME);
        return Options.of("distribution " + kind.name, kind.parameters, given);
    }

    /** Returns the kind with that name. Throws IllegalArgumentException, with the existing names, for an unknown one. */
    public static Kind named(String name) {
        List<String> names = new ArrayList<>();
        for (Kind kind : ALL) {
            names.add(kind.name);
            if (kind.name.equals(name)) {
                return kind;
            }
        }
        throw new IllegalArgumentException("no distribution is called '" + name + "': there are " + names);
    }

    /** Returns the uniform distribution from {@code least} to {@code most}. */
    public static Numbers uniform(long least, long most) {
        return random -> random.nextLong(least, most + 1);
    }

    /** Returns YCSB's scrambled Zipfian distribution from {@code least} to {@code most}. */
    public static Numbers scrambled(long least, long most, double constant) {
        Zipf ranks = Zipf.ofRanksTo(Scrambled.RANKS, constant);
        long size = most - least + 1;
        return random -> least + Scrambled.hash(ranks.next(random)) % size;
    }

    private static Option min() {
        return Option.count("min", 0L, 0, "Least number");
    }

    private static Option max() {
        return Option.count("max", null, 0, "Largest number");
    }

    private static Option constant() {
        return Option.number("constant", 0.99, 0.01, 0.999, "How steep it is");
    }

    private static Numbers normal(Options given) {
        long least = given.count("min");
        long most = given.count("max");
        double mean = given.has("mean") ? given.number("mean") : (least + most) / 2.0;
        double deviation = given.has("deviation") ? given.number("deviation") : Math.max(1e-9, (most - least) / 2.0 / 3);
        return new Normal(least, most, mean, deviation, given.text("outside").equals("clamp"));
    }

    private static Numbers zipfian(Options given) {
        long least = given.count("min");
        long most = given.count("max");
        if (given.truth("scrambled")) {
            return scrambled(least, most, given.number("constant"));
        }
        Zipf ranks = new Zipf(most - least + 1, given.number("constant"));
        return random -> least + ranks.next(random);
    }

    private static Numbers latest(Options given) {
        long most = given.count("max");
        Zipf ranks = new Zipf(most - given.count("min") + 1, given.number("constant"));
        return random -> most - ranks.next(random);
    }

    private static Numbers exponential(Options given) {
        long least = given.count("min");
        long size = given.count("max") - least + 1;
        double decay = -Math.log(1 - given.number("percentile") / 100) / (given.number("fraction") * size);
        return random -> least + below(size, decay, random);
    }

    private static long below(long size, double decay, SplittableRandom random) {
        while (true) {
            double number = -Math.log(1 - random.nextDouble()) / decay;
            if (number < size) {
                return (long) number;
            }
        }
    }

    private static Numbers hotspot(Options given) {
        long least = given.count("min");
        long most = given.count("max");
        long hot = Math.max(0, Math.min(most - least + 1, (long) ((most - least + 1) * given.number("hot_set"))));
        double share = hot == 0 ? 0 : hot == most - least + 1 ? 1 : given.number("hot_share");
        return random -> random.nextDouble() < share
                ? least + random.nextLong(hot)
                : least + hot + random.nextLong(most - least + 1 - hot);
    }

    /** One kind of distribution. */
    public static final class Kind {
        public final String name;
        public final String about;
        public final List<Option> parameters;
        final Function<Options, Distribution> make;

        Kind(String name, String about, List<Option> parameters, Function<Options, Distribution> make) {
            this.name = name;
            this.about = about;
            this.parameters = parameters;
            this.make = make;
        }
    }
}
