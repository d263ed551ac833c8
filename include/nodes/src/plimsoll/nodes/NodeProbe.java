package plimsoll.nodes;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** The state of one node, which is asked without the others. */
final class NodeProbe implements AutoCloseable {
    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final int KNOCK_MILLIS = 1_000;

    private final InetSocketAddress address;
    private final Map<String, Object> status = Answer.object();
    private CqlSession session;

    NodeProbe(InetSocketAddress address) {
        this.address = address;
    }

    String address() {
        return address.getHostString();
    }

    Object schemaVersion() {
        return status.get("schema_version");
    }

    /** The node's address and its last answers, for JSON. */
    Map<String, Object> describe() {
        Map<String, Object> described = Answer.object("host", address(), "port", address.getPort());
        described.putAll(status);
        return described;
    }

    /** Asks the node for its state. Null if it answers and knows that many peers, otherwise the problem. */
    String look(int peers) {
        String problem = ask(peers);
        status.put("problem", problem);
        return problem;
    }

    /** Executes a statement with this node as its coordinator. Throws a RuntimeException of the driver if it fails. */
    void execute(SimpleStatement statement) {
        session.execute(statement);
    }

    @Override
    public void close() {
        if (session != null) {
            session.forceCloseAsync();
        }
    }

    private String ask(int peers) {
        try {
            if (session == null) {
                knock();
                session = NodeSession.open(address, ANSWER);
            }
            return read(peers);
        } catch (IOException error) {
            return address() + " does not listen on port " + address.getPort() + ": " + error.getMessage();
        } catch (RuntimeException error) {
            return address() + " does not answer: " + error.getMessage();
        }
    }

    /** Throws IOException unless the port is open. The driver would cost more and log every refused connection. */
    private void knock() throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(address, KNOCK_MILLIS);
        }
    }

    private String read(int peers) {
        Row local = session.execute(
                        "SELECT release_version, schema_version, data_center, rack, tokens FROM system.local")
                .one();
        List<String> known = new ArrayList<>();
        session.execute("SELECT peer FROM system.peers")
                .forEach(row -> known.add(row.getInetAddress("peer").getHostAddress()));
        status.put("release_version", local.getString("release_version"));
        status.put("schema_version", String.valueOf(local.getUuid("schema_version")));
        status.put("data_centre", local.getString("data_center"));
        status.put("rack", local.getString("rack"));
        status.put("tokens", new TreeSet<>(local.getSet("tokens", String.class)));
        status.put("peers", new TreeSet<>(known));
        return known.size() == peers
                ? null
                : address() + " knows " + known.size() + " other nodes instead of " + peers + ": " + known;
    }
}
