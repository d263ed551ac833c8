package plimsoll.stress.workloads;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongFunction;
import plimsoll.stress.core.Lane;
import plimsoll.stress.core.Source;
import plimsoll.stress.core.distribution.Distribution;
import plimsoll.stress.core.distribution.Numbers;

/** A number that several fields of an operation share: its first field draws it, and the others use it. */
final class Shared {
    private final Distribution distribution;
    private final Map<Lane, long[]> drawn = new ConcurrentHashMap<>();

    Shared(Distribution distribution) {
        this.distribution = distribution;
    }

    Source first(LongFunction<Object> made) {
        return lane -> {
            Numbers numbers = distribution.open(lane);
            long[] last = last(lane);
            return random -> {
                last[0] = numbers.next(random);
                return made.apply(last[0]);
            };
        };
    }

    Source again(LongFunction<Object> made) {
        return lane -> {
            long[] last = last(lane);
            return random -> made.apply(last[0]);
        };
    }

    private long[] last(Lane lane) {
        return drawn.computeIfAbsent(lane, one -> new long[1]);
    }
}
