package plimsoll.stress.core;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Scanner;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import plimsoll.stress.core.distribution.Distributions;
import plimsoll.stress.core.distribution.Numbers;
import plimsoll.stress.core.distribution.Scrambled;
import plimsoll.stress.cql.AskCql;
import plimsoll.stress.workloads.Workloads;

/** Answers questions about the generator's pure parts, a line each, for tests in Python. */
public final class Ask {
    /** A client that answers nothing. */
    private static final Client NOBODY = new Client() {
        @Override
        public void send(Operation operation, int command, Object[][] rows, Completion end) {}

        @Override
        public ErrorKind kind(Throwable error) {
            return ErrorKind.OTHER;
        }
    };

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
                return Units.count(words(question));
            case "duration":
                return Units.duration(words(question)).toSeconds();
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
            case "unread":
                return unread(number(question[1]), number(question[2]));
            case "lease":
                return lease(number(question[1]));
            case "rule":
                Locale.setDefault(Locale.forLanguageTag(question[1]));
                return new StopRule.Converter().convert("errors/10s/5%").broken(1_234, 20_000, 0, false);
            case "overrun":
                return overrun();
            case "belated":
                return belated(number(question[1]), number(question[2]));
            case "closed":
                return closed(number(question[1]), (int) number(question[2]), number(question[3]));
            case "accesses":
                return accesses(question[1], parsed(question[2]));
            case "sent":
                return sent(question[1], parsed(question[2]), number(question[3]));
            case "row":
                return row(question[1], parsed(question[2]), number(question[3]));
            case "requested":
                return requested(question[1], parsed(question[2]), number(question[3]));
            case "console":
                return console(number(question[1]));
            case "remarks":
                return remarks(number(question[1]), number(question[2]));
            case "value":
                return AskCql.value(question[1], question[2]);
            case "literals":
                return AskCql.literals(words(question));
            case "pages":
                return AskCql.pages((int) number(question[1]), question[2], question[3].equals("true"));
            case "batch":
                return AskCql.batch(question[1].equals("true"));
            case "fetched":
                return AskCql.fetched(question[1], question[2], question[3].equals("true"));
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

    /** What stands behind the question's name. */
    private static String words(String[] question) {
        return String.join(" ", List.of(question).subList(1, question.length));
    }

    private static Workload workload(String name, Map<String, Object> options) {
        WorkloadType type = Workloads.named(name);
        return type.make(Options.of(name, type.options(), options)).active();
    }

    /** What a thread's worker hands to its client, an operation each: its name, statements and the values they need. */
    private static String sent(String name, Map<String, Object> options, long count) {
        Workload workload = workload(name, options);
        List<String> lines = new ArrayList<>();
        Client client = new Client() {
            @Override
            public void send(Operation operation, int command, Object[][] rows, Completion end) {
                for (Object[] row : rows) {
                    lines.add(shown(operation, command, row));
                }
                end.ended(0, null);
            }

            @Override
            public ErrorKind kind(Throwable error) {
                throw new IllegalArgumentException(error);
            }
        };
        Recording recording = new Recording(workload.operations);
        Traffic traffic = Traffic.of(workload, 1, Split.NONE, 7).get(0);
        Schedule schedule = new Schedule(0, count, 1, Split.NONE);
        Worker worker = new Worker(client, schedule.lane(0), traffic, recording, 1, Long.MAX_VALUE);
        recording.startAt(System.nanoTime());
        worker.startAt(System.nanoTime(), Thread.currentThread());
        while (worker.step() != Worker.NEVER) {}
        return String.join("|", lines);
    }

    /** How long a load goes on after it was looked at once, half a second after its start, in whole seconds. */
    private static long lease(long seconds) {
        Stop stop = new Stop();
        long start = System.nanoTime();
        try {
            Path file = Files.createTempFile("lease", "");
            try (Lease lease = new Lease(file, Duration.ofSeconds(seconds), stop)) {
                stop.awaitUntil(start + 500_000_000L);
                start = System.nanoTime();
                Files.setLastModifiedTime(file, FileTime.fromMillis(0));
                stop.awaitUntil(start + 60_000_000_000L);
            } finally {
                Files.delete(file);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return (System.nanoTime() - start) / 1_000_000_000L;
    }

    /** Records as many answers in a second, counted from 0, as its number is. */
    private static void record(Recording recording, long start, long second) {
        for (long answer = 0; answer < second; answer++) {
            long now = start + second * 1_000_000_000L + answer;
            recording.completed(0, 1, now - 1_000, now - 1_000, now);
        }
    }

    private static Recording recording(long start) {
        Recording recording = new Recording(List.of(Operation.named("reads").statements("SELECT 1").build()));
        recording.startAt(start);
        return recording;
    }

    /**
     * The answers of each second from the first to the last, read only after the last, then those of 19 more
     * seconds, each read in time; and whether some were lost. A second has as many answers as its number is.
     */
    private static String unread(long first, long last) {
        long start = System.nanoTime();
        Recording recording = recording(start);
        for (long second = 0; second < first; second++) {
            recording.take(second);
        }
        for (long second = first; second <= last; second++) {
            record(recording, start, second);
        }
        StringBuilder all = new StringBuilder();
        for (long second = first; second <= last; second++) {
            all.append(recording.take(second).completed()).append(' ');
        }
        for (long second = last + 1; second < last + 20; second++) {
            record(recording, start, second);
            all.append(recording.take(second).completed()).append(' ');
        }
        return all.append(recording.isOverrun()).toString();
    }

    /** Why a load ends whose reader finds results of a minute that nobody has read. */
    private static String overrun() {
        Operation operation = Operation.named("reads").statements("SELECT 1").build();
        Recording recording = recording(0);
        for (long second = 1; second < 60; second++) {
            record(recording, 0, second);
        }
        Workload workload = new Workload("w", List.of(), List.of(operation), Population.none());
        Schedule schedule = new Schedule(1, 100, 1, Split.NONE);
        Traffic traffic = Traffic.of(workload, 1, Split.NONE, 7).get(0);
        Worker worker = new Worker(NOBODY, schedule.lane(0), traffic, recording, 1, Long.MAX_VALUE);
        Stop stop = new Stop();
        Stage.Plan plan = Stage.Plan.timed(0, 100, 0);
        try (Vitals vitals = new Vitals()) {
            new Stage(new Load(schedule, List.of(worker)), recording, plan, 0, vitals, stop, () -> false, List.of())
                    .run(System.nanoTime() - 2_000_000_000L);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return stop.reason().exitCode + ": " + stop.reason().getMessage();
    }

    /** The answers of each second up to the last, where those of one are recorded when it and so many more are read. */
    private static String belated(long late, long more) {
        long start = System.nanoTime();
        Recording recording = recording(start);
        StringBuilder all = new StringBuilder();
        for (long second = 0; second <= late + more + 12; second++) {
            if (second == late + more + 1) {
                record(recording, start, late);
            }
            all.append(recording.take(second).completed()).append(' ');
        }
        return all.append(recording.rest().completed()).toString();
    }

    /**
     * What a closed loop of one thread sends at that rate within two seconds with so many at once, each answered after so
     * many ms: the operations, the most in flight, whether each counts from its send, and the backlog.
     */
    private static String closed(long rate, int concurrency, long millis) {
        Operation operation = Operation.named("reads").statements("SELECT 1").build();
        Recording recording = new Recording(List.of(operation));
        Client client = new Client() {
            @Override
            public void send(Operation sent, int command, Object[][] rows, Completion end) {
                CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS).execute(() -> end.ended(1, null));
            }

            @Override
            public ErrorKind kind(Throwable error) {
                throw new IllegalArgumentException(error);
            }
        };
        Workload workload = new Workload("w", List.of(), List.of(operation), Population.none());
        Schedule schedule = new Schedule(rate, 2 * rate, 1, Split.NONE).asClosedLoop();
        Worker worker = new Worker(
                client, schedule.lane(0), Traffic.of(workload, 1, Split.NONE, 7).get(0), recording, concurrency, 0);
        Load load = new Load(schedule, List.of(worker));
        long start = System.nanoTime();
        recording.startAt(start);
        load.startAt(start, (dead, error) -> error.printStackTrace());
        int most = 0;
        while (!load.isComplete(load.due(0)) || System.nanoTime() - start < 2_000_000_000L) {
            LockSupport.parkNanos(1_000_000);
            most = Math.max(most, load.takePeak());
        }
        Interval ended = recording.rest();
        return ended.completed() + " " + most + " " + ended.response[0].equals(ended.service[0]) + " " + load.backlog(0);
    }

    /** What a workload's operations ask in the language of no database; {@code none} where only CQL can say it. */
    private static String accesses(String name, Map<String, Object> options) {
        List<String> all = new ArrayList<>();
        for (Operation operation : workload(name, options).everyOperation()) {
            operation.commands.forEach(command -> all.add(command.access == null ? "none" : command.access.toString()));
        }
        return String.join("|", all);
    }

    private static String shown(Operation operation, int command, Object[] row) {
        String statements = String.join("; ", operation.statements(command));
        boolean isOneOfSeveral = operation.commands.size() > 1;
        StringBuilder line = new StringBuilder(operation.name).append(isOneOfSeveral ? "\t" + statements : "");
        for (int f = 0; f < row.length; f++) {
            String field = operation.fields.get(f).name;
            if (statements.matches("(?s).*:" + field + "\\b.*")) {
                line.append('\t').append(field).append('=').append(row[f]);
            }
        }
        return line.toString();
    }

    /** The values with which a workload populates a row. */
    private static String row(String name, Map<String, Object> options, long number) {
        Population population = workload(name, options).population;
        return shown(population.write, 0, Traffic.ofRow(population.write, number)[0]);
    }

    /** How often each key is asked for by the first operation: {@code key:count}, the most frequent first. */
    private static String requested(String name, Map<String, Object> options, long count) {
        Traffic traffic = Traffic.of(workload(name, options), 1, Split.NONE, 7).get(0);
        Map<Object, Integer> counts = new LinkedHashMap<>();
        for (long n = 0; n < count; n++) {
            Traffic.Draw draw = traffic.next();
            if (draw.index == 0) {
                counts.merge(draw.rows[0][0], 1, Integer::sum);
            }
        }
        List<Map.Entry<Object, Integer>> sorted = new ArrayList<>(counts.entrySet());
        sorted.sort(Map.Entry.comparingByValue(Comparator.reverseOrder()));
        StringBuilder all = new StringBuilder();
        sorted.forEach(entry -> all.append(entry.getKey()).append(':').append(entry.getValue()).append(' '));
        return all.toString().trim();
    }

    /** The console's line after ten seconds in which an operation took 5 ms and had waited for 44 s; 0: no rate. */
    private static String console(long rate) {
        Operation operation = Operation.named("writes").build();
        Slot slot = new Slot(List.of(operation));
        slot.completed(0, 1, 44_000_000, 5_000);
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        Phase phase = rate == 0 ? Phase.POPULATE : Phase.MEASURE;
        new Console(new PrintStream(written), Duration.ofSeconds(60))
                .accept(new Observation(
                        phase, 9, 10, 40, rate, slot.read(), 3, 7, 120, new Vitals.Sample(1, 1, 0, 0, 0), List.of()));
        return written.toString().trim();
    }

    /** What is kept of so many kinds of failures, each so often with other digits: kinds, their counts, what is told. */
    private static String remarks(long kinds, long times) {
        Operation operation = Operation.named("reads").statements("SELECT 1").build();
        Remarks remarks = new Remarks();
        for (long time = 0; time < times; time++) {
            for (long kind = 0; kind < kinds; kind++) {
                String word = Character.toString((char) ('a' + kind));
                Exception error = new CompletionException(new IllegalStateException(word + " at row " + time));
                remarks.failed(NOBODY, operation, 0, ErrorKind.OTHER, error);
                remarks.warned(NOBODY, operation, 0, word + time);
            }
        }
        Map<?, ?> first = (Map<?, ?>) remarks.failureDocuments().get(0);
        return remarks.failureDocuments().size() + " " + first.get("count") + " " + remarks.warnings() + " "
                + remarks.fresh().size() + " " + remarks.fresh().size() + " " + first.get("message");
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
        }, 1);
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
