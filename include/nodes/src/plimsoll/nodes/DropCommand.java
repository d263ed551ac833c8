package plimsoll.nodes;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code drop}: removes a keyspace if it exists. */
@Command(
        name = "drop",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        showDefaultValues = true,
        description = "Drops a keyspace, if it is there; prints one line of JSON.")
final class DropCommand implements Callable<Integer> {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Option(names = "--host", required = true, description = "Address of a node.")
    String host;

    @Option(names = "--port", description = "CQL port of the node.")
    int port = 9042;

    @Option(names = "--keyspace", required = true, description = "A plain name in small letters.")
    String keyspace;

    @Override
    public Integer call() {
        String problem = keyspace.matches("[a-z][a-z0-9_]{0,47}") ? drop() : "'" + keyspace + "' is no plain name";
        Answer.print(Answer.object("error", problem));
        return (problem == null ? ExitCode.COMPLETE : ExitCode.UNREACHABLE).code;
    }

    private String drop() {
        try (CqlSession session = NodeSession.open(new InetSocketAddress(host, port), PATIENCE)) {
            session.execute(SimpleStatement.newInstance("DROP KEYSPACE IF EXISTS " + keyspace));
            return null;
        } catch (RuntimeException error) {
            return host + ": " + error.getMessage();
        }
    }
}
