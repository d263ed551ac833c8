package plimsoll.stress.core;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import plimsoll.stress.core.distribution.Distributions;
import plimsoll.stress.core.distribution.Numbers;
import plimsoll.stress.core.distribution.Scrambled;
import plimsoll.stress.cql.AskCql;
import plimsoll.stress.workloads.Workloads;

/** Answers questions about the generator's pure parts, a line each, for tests in Python. */
public final class Ask {
    public static void main(String[] arguments) {
        Scanner questions = new Scanner(System.in);
        while (questions.hasNextLine()) {
            System.out.println(answer(questions.nextLine().split(" ")));
        }
    }

    private static Object answer(String[] question) {
        try {
            return reply(question);
        } catch (IllegalArgumentException | ArithmeticException error) {
            return "refused: " + error.getMessage();
        }
    }

    private static Object reply(String[] question) {
        switch (question[0]) {
            case "count":
                return Units.count(question[1]);
            case "duration":
                return Units.duration(String.join(" ", List.of(question).subList(1, question.length)))
                        .toSeconds();
            case "due":
                return new Schedule(number(question[1]), number(question[2]), 1, split(question, 4)).due(number(question[3]));
            case "intended":
                return new Schedule(number(question[1]), Long.MAX_VALUE / 2, (int) number(question[2]), split(question, 5))
                        .lane((int) number(question[3]))
                        .intended(number(question[4]));
            case "size":
                return new Schedule(1, number(question[1]), (int) number(question[2]), split(question, 4))
                        .lane((int) number(question[3]))
                        .size();
            case "keys":
                return keys(question[1], number(question[2]), number(question[3]));
            case "text":
                return texts(number(question[1]), number(question[2]));
            case "rows":
                return AskCql.rows(question[1], question[2]);
            case "draw":
                return draw(question[1], number(question[2]), number(question[3]));
            case "hash":
                return Scrambled.hash(number(question[1]));
            case "populated":
                return populated(question[1], parsed(question[2]), (int) number(question[3]), (int) number(question[4]));
            case "found":
                return found((int) number(question[1]), number(question[2]));
            case "retried":
                return retried((int) number(question[1]), ErrorKind.valueOf(question[2]));
            case "error":
                return AskCql.kind(question[1]);
            default:
                throw new IllegalArgumentException(question[0]);
        }
    }

    /** The word at that place, if the question has so many. */
    private static Split split(String[] question, int place) {
        return question.length > place ? Split.parse(question[place]) : Split.NONE;
    }

    private static String keys(String choice, long partitions, long count) {
        PartitionKeys keys = new PartitionKeys(choice, "001", 3, partitions, 7);
        StringBuilder all = new StringBuilder();
        for (long i = 0; i < count; i++) {
            all.append(keys.next()).append(' ');
        }
        return all.toString().trim();
    }

    private static String texts(long seed, long count) {
        RandomText text = new RandomText(seed);
        SplittableRandom random = new SplittableRandom(seed);
        StringBuilder all = new StringBuilder();
        for (long i = 0; i < count; i++) {
            all.append(text.next(random, 100, 199)).append(' ');
        }
        return all.toString().trim();
    }

    /**
     * Of a workload's populating by so many generators of so many threads: rows written, different ones among them, and
     * those that the read-back asks for and nobody wrote; or {@code none}. A row is what its read-back asks by.
     */
    private static String populated(String name, Map<String, Object> options, int threads, int parts) {
        WorkloadType type = Workloads.named(name);
        Workload workload = type.make(Options.of(name, type.options(), options));
        Population population = workload.population;
        if (population.readBack == null) {
            return "none";
        }
        List<String> asked = new ArrayList<>();
        String statement = population.readBack.commands.get(0).statement;
        population.readBack.fields.stream()
                .map(field -> field.name)
                .filter(field -> statement.matches("(?s).*:" + field + "\\b.*"))
                .forEach(asked::add);
        List<String> written = new ArrayList<>();
        for (int part = 1; part <= parts; part++) {
            Split split = Split.parse(part + "/" + parts);
            Schedule schedule = new Schedule(0, population.rows, threads, split);
            List<Traffic> traffic = Traffic.populating(workload, threads, split, 7);
            for (int thread = 0; thread < threads; thread++) {
                for (long n = schedule.lane(thread).size(); n > 0; n--) {
                    written.add(row(population.write, traffic.get(thread).values(0)[0], asked));
                }
            }
        }
        Set<String> different = new HashSet<>(written);
        long missing = 0;
        for (long row = 0; row < population.rows; row++) {
            Object[] values = Traffic.ofRow(population.readBack, row)[0];
            missing += different.contains(row(population.readBack, values, asked)) ? 0 : 1;
        }
        return written.size() + " " + different.size() + " " + missing;
    }

    /** The values of those fields, as text. */
    private static String row(Operation operation, Object[] values, List<String> fields) {
        Map<String, Object> row = new TreeMap<>();
        for (int f = 0; f < values.length; f++) {
            if (fields.contains(operation.fields.get(f).name)) {
                boolean isBytes = values[f] instanceof ByteBuffer;
                row.put(operation.fields.get(f).name, isBytes ? new BigInteger(((ByteBuffer) values[f]).array()) : values[f]);
            }
        }
        return row.toString();
    }

    /** How many rows are verified of so many, where the first reads, so many, find none; and how many reads that takes. */
    private static String found(int rows, long without) {
        Workload workload = Workloads.named("KeyValue")
                .make(Options.of("KeyValue", Workloads.named("KeyValue").options(), Map.of("rows", rows)));
        AtomicInteger reads = new AtomicInteger();
        Client client = new Client() {
            @Override
            public void send(Operation operation, int command, Object[][] values, Completion end) {
                end.ended(reads.incrementAndGet() > without ? 1 : 0, null);
            }

            @Override
            public ErrorKind kind(Throwable error) {
                return ErrorKind.OTHER;
            }
        };
        try {
            return new ReadBack(client, workload.population, Split.NONE).verify(7) + " " + reads;
        } catch (StressException error) {
            throw new IllegalArgumentException(error);
        }
    }

    /** How an operation ends that first fails so often with an error of that kind, and how often it was sent. */
    private static String retried(int failures, ErrorKind kind) {
        AtomicInteger sent = new AtomicInteger();
        RetryingClient client = new RetryingClient(new Client() {
            @Override
            public void send(Operation operation, int command, Object[][] rows, Completion end) {
                end.ended(0, sent.incrementAndGet() > failures ? null : new IllegalStateException());
            }

            @Override
            public ErrorKind kind(Throwable error) {
                return kind;
            }
        });
        CompletableFuture<String> ended = new CompletableFuture<>();
        client.send(null, 0, null, (rows, error) -> ended.complete(error == null ? "answered" : "failed"));
        return ended.join() + " " + sent + " " + client.retries();
    }

    /** How often each number was drawn: {@code number:count} for those that were, in order. */
    private static String draw(String parameters, long count, long seed) {
        Numbers numbers = Distributions.of(parsed(parameters)).open(new Lane(0, 1, seed));
        SplittableRandom random = new SplittableRandom(seed);
        TreeMap<Long, Integer> counts = new TreeMap<>();
        for (long n = 0; n < count; n++) {
            counts.merge(numbers.next(random), 1, Integer::sum);
        }
        StringBuilder all = new StringBuilder();
        counts.forEach((number, times) -> all.append(number).append(':').append(times).append(' '));
        return all.toString().trim();
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> parsed(String json) {
        try {
            return new ObjectMapper().readValue(json, LinkedHashMap.class);
        } catch (JsonProcessingException error) {
            throw new IllegalArgumentException(error);
        }
    }

    private static long number(String text) {
        return Long.parseLong(text);
    }
}
