package plimsoll.nodes;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.loadbalancing.NodeDistance;
import com.datastax.oss.driver.internal.core.loadbalancing.DcInferringLoadBalancingPolicy;
import java.net.InetSocketAddress;
import java.time.Duration;

/** Connections to single nodes. */
final class NodeSession {
    private static final Duration CONNECT = Duration.ofSeconds(5);
    private static final Duration FIRST_ANSWER = Duration.ofSeconds(10);

    private NodeSession() {}

    /** A session that uses only this node and reads no metadata. Throws a RuntimeException if it can't connect. */
    static CqlSession open(InetSocketAddress node, Duration timeout) {
        DriverConfigLoader config = DriverConfigLoader.programmaticBuilder()
                .withClass(DefaultDriverOption.LOAD_BALANCING_POLICY_CLASS, DcInferringLoadBalancingPolicy.class)
                .withInt(DefaultDriverOption.NETTY_IO_SIZE, 1)
                .withInt(DefaultDriverOption.NETTY_IO_SHUTDOWN_QUIET_PERIOD, 0)
                .withInt(DefaultDriverOption.NETTY_ADMIN_SIZE, 1)
                .withInt(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_QUIET_PERIOD, 0)
                .withBoolean(DefaultDriverOption.NETTY_DAEMON, true)
                .withDuration(DefaultDriverOption.CONNECTION_CONNECT_TIMEOUT, CONNECT)
                .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, FIRST_ANSWER)
                .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, FIRST_ANSWER)
                .withBoolean(DefaultDriverOption.TIMESTAMP_GENERATOR_FORCE_JAVA_CLOCK, true)
                .withBoolean(DefaultDriverOption.METADATA_SCHEMA_ENABLED, false)
                .withBoolean(DefaultDriverOption.METADATA_TOKEN_MAP_ENABLED, false)
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, timeout)
                .build();
        return CqlSession.builder()
                .withConfigLoader(config)
                .addContactPoint(node)
                .withNodeDistanceEvaluator(
                        (other, dataCentre) -> other.getEndPoint().resolve().equals(node) ? null : NodeDistance.IGNORED)
                .build();
    }
}
