package plimsoll.stress.hbase;

import static plimsoll.stress.core.StressException.require;

import java.time.Duration;
import picocli.CommandLine.Option;
import plimsoll.stress.core.Connector;
import plimsoll.stress.core.Protocol;
import plimsoll.stress.core.StressException;
import plimsoll.stress.core.Units;

/** The options of {@code run} that say where HBase is, how to ask it, and how its tables are made. */
public final class HBaseOptions implements Protocol {
    @Option(names = "--host", description = "Region servers to ask where the others are, separated by commas.")
    String hosts = "127.0.0.1";

    @Option(names = "--port", description = "Port of these region servers.")
    int port = 16020;

    @Option(names = "--rpc-timeout", converter = Units.Seconds.class, description = "Longest wait for one answer.")
    Duration rpcTimeout = Duration.ofSeconds(2);

    @Option(
            names = "--operation-timeout",
            converter = Units.Seconds.class,
            description = "Longest time of an operation of the timed run, which is sent once: the search for its region "
                    + "and the wait for its answer.")
    Duration operationTimeout = Duration.ofSeconds(5);

    @Option(names = "--namespace", description = "Namespace of the tables.")
    String namespace = "tlp_stress";

    @Option(names = "--regions", description = "Regions that a new table begins with.")
    int regions = 8;

    @Option(names = "--block-encoding", description = "Block encoding of new tables.")
    String blockEncoding = "NONE";

    @Option(names = "--compression", description = "Compression of new tables.")
    String compression = "NONE";

    @Option(names = "--drop", description = "Drop the workload's tables first.")
    boolean drop;

    @Option(names = "--no-schema", description = "Take the tables as they are.")
    boolean noSchema;

    @Override
    public String databases() {
        return "HBase";
    }

    @Override
    public Connector connector(boolean makesTables) {
        return new HBaseConnector(this, makesTables);
    }

    @Override
    public void check() throws StressException {
        require(regions > 0 && regions <= RowKeys.MOST_REGIONS, "--regions must be between 1 and " + RowKeys.MOST_REGIONS);
        require(!rpcTimeout.isZero(), "--rpc-timeout must be above 0");
        require(!operationTimeout.isZero(), "--operation-timeout must be above 0");
        require(namespace.matches("[a-z][a-z0-9_]{0,47}"), "--namespace must be a plain lower-case name");
        require(port > 0 && port < 65_536, "--port must be between 1 and 65535");
        require(
                blockEncoding.matches("NONE|PREFIX|DIFF|FAST_DIFF|ROW_INDEX_V1"),
                "--block-encoding must be one of NONE, PREFIX, DIFF, FAST_DIFF, ROW_INDEX_V1");
        require(compression.matches("NONE|GZ"), "--compression must be NONE or GZ");
    }
}
