package plimsoll.stress.cql;

import static plimsoll.stress.core.StressException.require;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import plimsoll.stress.core.Connector;
import plimsoll.stress.core.Protocol;
import plimsoll.stress.core.StressException;
import plimsoll.stress.core.Units;

/** The options of {@code run} that say where the database is and how to ask it. */
public final class CqlOptions implements Protocol {
    @Option(names = "--host", description = "Contact points, separated by commas.")
    String hosts = "127.0.0.1";

    @Option(names = "--port", description = "CQL port of every node.")
    int port = 9042;

    @Option(names = "--dc", description = "Data centre to send to. Default: that of the contact points.")
    String dataCentre;

    @Option(names = "--core-connections", description = "Connections to each node. Default: by the rate.")
    int connections;

    @Option(names = "--cl", converter = Consistency.class, description = "Consistency level of reads and writes.")
    ConsistencyLevel consistency = DefaultConsistencyLevel.LOCAL_ONE;

    @Option(names = "--request-timeout", converter = Units.Seconds.class, description = "Longest wait for an answer.")
    Duration requestTimeout = Duration.ofSeconds(12);

    @Option(names = "--keyspace", description = "Keyspace to use.")
    String keyspace = "tlp_stress";

    @Option(names = "--rf", description = "Replication factor of a new keyspace.")
    int replicationFactor = 3;

    @Option(names = "--replication", description = "Replication of a new keyspace as CQL; goes before --rf.")
    String replication;

    @Option(names = "--drop", description = "Drop the keyspace first.")
    boolean drop;

    @Option(names = "--no-schema", description = "Take keyspace and table as they are.")
    boolean noSchema;

    @Option(
            names = "--no-auto-snapshot",
            description = "Have the database keep no copy of the tables when they are dropped, where its release can.")
    boolean noAutoSnapshot;

    @Option(
            names = "--nodes-within",
            split = ",",
            description = "Connect to these alone, whatever nodes the database names: names, addresses, and networks such "
                    + "as 10.0.0.0/24; with commas.")
    List<String> nodesWithin = List.of();

    @Option(
            names = "--access-on-stdin",
            description = "Read user, password and certificates from standard input, as JSON: {\"user\", \"password\", "
                    + "\"tls\": true, \"ca\", \"certificate\", \"key\"}; the last three in PEM, each may be missing.")
    boolean accessOnStdin;

    @Override
    public String databases() {
        return "databases that speak CQL";
    }

    @Override
    public Connector connector(boolean makesTables) {
        return new CqlConnector(this, makesTables);
    }

    @Override
    public void check() throws StressException {
        require(replicationFactor > 0, "--rf must be above 0");
        require(connections >= 0, "--core-connections must be above 0");
        require(!requestTimeout.isZero(), "--request-timeout must be above 0");
        require(keyspace.matches("[a-z][a-z0-9_]{0,47}"), "--keyspace must be a plain lower-case name");
        require(port > 0 && port < 65_536, "--port must be between 1 and 65535");
    }

    /** Returns how to log in. Standard input can be read once, so this is called once. */
    Login login() throws StressException {
        return accessOnStdin ? Login.read(System.in) : Login.NONE;
    }

    static final class Consistency implements ITypeConverter<ConsistencyLevel> {
        @Override
        public ConsistencyLevel convert(String text) {
            return DefaultConsistencyLevel.valueOf(text);
        }
    }
}
