package plimsoll.stress.cql;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import com.datastax.oss.driver.api.core.ssl.ProgrammaticSslEngineFactory;
import com.datastax.oss.driver.internal.core.loadbalancing.DcInferringLoadBalancingPolicy;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import plimsoll.stress.core.ExitCode;
import plimsoll.stress.core.StressException;

/** Connections to the database. */
final class Sessions {
    /** The rate that one Netty thread carries without being the bottleneck, in ops/s. */
    private static final long RATE_OF_A_THREAD = 15_000;

    private Sessions() {}

    /**
     * A session for a load.
     *
     * <p>Two of the driver's defaults are changed because they alter what is measured: replicas are taken in turn even
     * if they are slow (the driver would avoid a node in a long pause, which is the very thing to be seen), and a
     * request waits 12 s, as tlp-stress' driver does, rather than 2. The rest saves CPU: the driver would also write every
     * warning of the database, with its statement, on the thread that reads answers. They are counted instead.
     */
    static CqlSession load(CqlOptions options, long rate) throws StressException {
        int threads = threads(rate);
        ProgrammaticDriverConfigLoaderBuilder config = config(threads)
                .withBoolean(DefaultDriverOption.LOAD_BALANCING_POLICY_SLOW_AVOIDANCE, false)
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, options.requestTimeout)
                .withString(DefaultDriverOption.REQUEST_CONSISTENCY, options.consistency.name())
                .withInt(
                        DefaultDriverOption.CONNECTION_POOL_LOCAL_SIZE,
                        options.connections > 0 ? options.connections : threads)
                .withBoolean(DefaultDriverOption.REQUEST_WARN_IF_SET_KEYSPACE, false)
                .withBoolean(DefaultDriverOption.REQUEST_LOG_WARNINGS, false)
                .withStringList(DefaultDriverOption.METADATA_SCHEMA_REFRESHED_KEYSPACES, List.of(options.keyspace));
        if (options.dataCentre != null) {
            config.withString(DefaultDriverOption.LOAD_BALANCING_LOCAL_DATACENTER, options.dataCentre);
        }
        return connect(config, options);
    }

    static List<InetSocketAddress> contactPoints(String hosts, int port) {
        List<InetSocketAddress> points = new ArrayList<>();
        for (String host : hosts.split(",")) {
            points.add(new InetSocketAddress(host.trim(), port));
        }
        return points;
    }

    private static int threads(long rate) {
        int most = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
        return (int) Math.min(most, (rate + RATE_OF_A_THREAD - 1) / RATE_OF_A_THREAD);
    }

    private static ProgrammaticDriverConfigLoaderBuilder config(int threads) {
        return DriverConfigLoader.programmaticBuilder()
                .withClass(DefaultDriverOption.LOAD_BALANCING_POLICY_CLASS, DcInferringLoadBalancingPolicy.class)
                .withInt(DefaultDriverOption.NETTY_IO_SIZE, threads)
                .withInt(DefaultDriverOption.NETTY_IO_SHUTDOWN_QUIET_PERIOD, 0)
                .withInt(DefaultDriverOption.NETTY_ADMIN_SIZE, 1)
                .withInt(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_QUIET_PERIOD, 0)
                .withBoolean(DefaultDriverOption.NETTY_DAEMON, true)
                .withInt(DefaultDriverOption.CONNECTION_MAX_REQUESTS, 32_768)
                .withDuration(DefaultDriverOption.CONNECTION_CONNECT_TIMEOUT, Duration.ofSeconds(5))
                .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(10))
                .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(10))
                .withBoolean(DefaultDriverOption.TIMESTAMP_GENERATOR_FORCE_JAVA_CLOCK, true);
    }

    private static CqlSession connect(
            ProgrammaticDriverConfigLoaderBuilder config, CqlOptions options) throws StressException {
        List<InetSocketAddress> points = contactPoints(options.hosts, options.port);
        Login login = options.login();
        try {
            return builder(config, options, points, login).build();
        } catch (RuntimeException error) {
            throw new StressException(ExitCode.UNREACHABLE, "cannot connect to " + points, error);
        }
    }

    private static CqlSessionBuilder builder(
            ProgrammaticDriverConfigLoaderBuilder config, CqlOptions options, List<InetSocketAddress> points, Login login) {
        CqlSessionBuilder builder = CqlSession.builder().withConfigLoader(config.build()).addContactPoints(points);
        if (!options.nodesWithin.isEmpty()) {
            builder.withNodeDistanceEvaluator(new Networks(options.nodesWithin));
        }
        if (login.user != null) {
            builder.withAuthCredentials(login.user, login.password);
        }
        if (login.tls != null) {
            // The name that is asked for is in the certificate, not one that DNS gives for an address.
            builder.withSslEngineFactory(new ProgrammaticSslEngineFactory(login.tls, null, true, false));
        }
        return builder;
    }
}
