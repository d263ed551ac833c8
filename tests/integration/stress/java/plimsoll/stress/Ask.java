package plimsoll.stress;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.NoNodeAvailableException;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.cql.Row;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;

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
                return new Schedule(number(question[1]), number(question[2]), 1).due(number(question[3]));
            case "intended":
                return new Schedule(number(question[1]), Long.MAX_VALUE / 2, (int) number(question[2]))
                        .lane((int) number(question[3]))
                        .intended(number(question[4]));
            case "size":
                return new Schedule(1, number(question[1]), (int) number(question[2]))
                        .lane((int) number(question[3]))
                        .size();
            case "keys":
                return keys(question[1], number(question[2]), number(question[3]));
            case "text":
                return texts(number(question[1]), number(question[2]));
            case "rows":
                return rows(question[1], question[2]);
            case "error":
                return ErrorKind.of(error(question[1])).label;
            default:
                throw new IllegalArgumentException(question[0]);
        }
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

    /** Every row of a time series as {@code key=text}, read through the driver; timestamps must be of version 1. */
    private static String rows(String host, String keyspace) {
        StringBuilder all = new StringBuilder();
        try (CqlSession session = Sessions.single(new InetSocketAddress(host, 9042), Duration.ofSeconds(10))) {
            for (Row row : session.execute("SELECT * FROM " + keyspace + ".sensor_data")) {
                if (row.getUuid("timestamp").version() == 1) {
                    all.append(row.getString("sensor_id")).append('=').append(row.getString("data")).append(' ');
                }
            }
        } catch (StressException error) {
            throw new IllegalArgumentException(error);
        }
        return all.toString().trim();
    }

    private static Throwable error(String name) {
        switch (name) {
            case "timeout":
                return new CompletionException(new DriverTimeoutException("late"));
            case "no_node":
                return new NoNodeAvailableException();
            case "all_failed":
                return AllNodesFailedException.fromErrors(Map.of());
            case "closed":
                return new ClosedConnectionException("gone");
            default:
                return new IllegalStateException(name);
        }
    }

    private static long number(String text) {
        return Long.parseLong(text);
    }
}
