package plimsoll.stress.core;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Looks every second of a stage whether its operations break a rule by which the load ends, or a file says that those of
 * another generator have broken one: {@code {"rule": …, "why": …, "host": …, "silent": …}}.
 */
final class Guard implements Sink {
    private final List<Window> windows;
    private final Path elsewhere;
    private String why;
    private String host;
    private int rule;
    private boolean isSilent;
    private double ended;

    /** @param elsewhere the file; null where there is no other generator */
    Guard(List<StopRule> rules, Path elsewhere) {
        windows = rules.stream().map(Window::new).collect(Collectors.toList());
        this.elsewhere = elsewhere;
    }

    @Override
    public void accept(Observation observation) throws IOException {
        if (why != null || observation.phase == Phase.DRAIN || observation.seconds() < 1) {
            return;
        }
        for (int number = 0; number < windows.size(); number++) {
            Window window = windows.get(number);
            end(window.add(observation), number, window.isSilent(), observation.until);
        }
        if (why == null && elsewhere != null && Files.exists(elsewhere)) {
            JsonNode told = new ObjectMapper().readTree(elsewhere.toFile());
            host = told.path("host").asText();
            boolean wasSilent = told.path("silent").asBoolean();
            end(told.path("why").asText(), told.path("rule").asInt(), wasSilent, observation.until);
        }
    }

    private void end(String broken, int number, boolean wasSilent, double until) {
        if (broken != null && why == null) {
            why = broken;
            rule = number;
            isSilent = wasSilent;
            ended = until;
        }
    }

    /** Returns in words how a rule was broken, or null. */
    String why() {
        return why;
    }

    /** Returns the host of the generator whose operations broke it, or null for this one. */
    String host() {
        return host;
    }

    /** Returns the place of that rule among all, from 0. */
    int rule() {
        return rule;
    }

    /** Returns whether no operation was answered in all of that rule's time. */
    boolean isSilent() {
        return isSilent;
    }

    /** Returns when that was, in seconds from the stage's start. */
    double ended() {
        return ended;
    }

    /** The operations of the last seconds that a rule is about. */
    private static final class Window {
        private final StopRule rule;
        private final long[] breaking;
        private final long[] answered;
        private final long[] failed;
        private int seconds;

        private Window(StopRule rule) {
            this.rule = rule;
            breaking = new long[rule.seconds];
            answered = new long[rule.seconds];
            failed = new long[rule.seconds];
        }

        /** Adds a second. Returns how the rule is broken, or null; the rule holds until its time has passed once. */
        private String add(Observation observation) {
            int place = seconds++ % rule.seconds;
            breaking[place] = rule.breaking(observation);
            answered[place] = observation.interval.completed();
            failed[place] = observation.interval.failures();
            if (seconds < rule.seconds) {
                return null;
            }
            boolean areUnderWay = observation.inFlight + observation.backlog > 0;
            return rule.broken(sum(breaking), sum(answered), sum(failed), areUnderWay);
        }

        private boolean isSilent() {
            return sum(answered) == 0;
        }

        private static long sum(long[] numbers) {
            return LongStream.of(numbers).sum();
        }
    }
}
