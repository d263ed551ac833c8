package plimsoll.stress.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Judges the service levels while the timed run goes on, and decides when it need not go on. */
final class Watch implements Sink {
    private final List<WatchedLevel> levels;
    private final long least;
    private Double decided;
    private double start = -1;

    /** @param least intervals of each level that are judged in any case before the run may end; 0: it never ends early */
    Watch(List<WatchedLevel> levels, long least) {
        this.levels = levels;
        this.least = least;
    }

    @Override
    public void accept(Observation observation) {
        if (observation.phase != Phase.MEASURE || observation.until != observation.from + 1) {
            return;
        }
        if (start < 0) {
            start = observation.from;
        }
        double judged = observation.until - start;
        levels.forEach(level -> level.add(observation.interval, judged));
        if (decided == null && least > 0 && isDecided(judged)) {
            decided = observation.until;
        }
    }

    /** An interval has missed, which nothing after it can undo. The judged time consists of whole intervals. */
    private boolean isDecided(double judged) {
        return levels.stream().anyMatch(level -> level.missed() > 0)
                && levels.stream().allMatch(level -> level.ends(judged) && level.judged() >= least);
    }

    /** Returns how many seconds after its start the run was decided, or null. */
    Double decided() {
        return decided;
    }

    /** Returns the figures of every level. */
    List<Map<String, Object>> document() {
        List<Map<String, Object>> figures = new ArrayList<>();
        levels.forEach(level -> figures.add(level.document()));
        return figures;
    }
}
