package plimsoll.nodes;

import java.io.IOException;
import java.rmi.NotBoundException;
import java.rmi.registry.LocateRegistry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanException;
import javax.management.MBeanServerConnection;
import javax.management.NotificationListener;
import javax.management.ObjectName;
import javax.management.ReflectionException;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;
import javax.management.remote.JMXConnector;
import javax.management.remote.rmi.RMIConnector;
import javax.management.remote.rmi.RMIServer;

/**
 * A JMX connection to one running JVM. It takes the stub from the RMI registry itself, because {@code service:jmx}
 * addresses need JNDI with its RMI provider (jdk.naming.rmi), which small Java runtimes lack.
 */
final class JvmInspection implements AutoCloseable {
    private static final String HOTSPOT = "com.sun.management:type=HotSpotDiagnostic";
    private static final String PENDING = "org.apache.cassandra.metrics:type=Compaction,name=PendingTasks";
    private static final String RECEIVED = "org.apache.cassandra.metrics:type=Streaming,name=TotalIncomingBytes";
    private static final String STORAGE = "org.apache.cassandra.db:type=StorageService";

    /** Flags that influence garbage collection and are not among the JVM's diagnostic options. */
    private static final List<String> FLAGS = List.of(
            "UseG1GC", "UseConcMarkSweepGC", "UseParallelGC", "UseSerialGC", "UseShenandoahGC", "UseZGC", "MaxHeapSize",
            "InitialHeapSize", "MaxNewSize", "NewSize", "SoftMaxHeapSize", "UseLargePages", "UseTransparentHugePages",
            "AlwaysPreTouch", "ParallelGCThreads", "ConcGCThreads", "MaxGCPauseMillis", "G1HeapRegionSize",
            "InitiatingHeapOccupancyPercent", "G1RSetUpdatingPauseTimePercent", "CMSInitiatingOccupancyFraction",
            "UseCMSInitiatingOccupancyOnly", "CMSWaitDuration", "MaxTenuringThreshold", "SurvivorRatio",
            "ShenandoahGCHeuristics", "UseNUMA", "UseCompressedOops", "UseStringDeduplication", "ResizeTLAB",
            "PerfDisableSharedMem", "MaxDirectMemorySize", "TieredStopAtLevel", "UnlockExperimentalVMOptions");

    private final RMIConnector connector;
    private final MBeanServerConnection server;

    /**
     * @param credentials user and password, or null if the server asks for none
     * @throws IOException or NotBoundException if there is no JMX server at that address
     * @throws SecurityException if the server refuses the credentials
     */
    JvmInspection(String host, int port, String[] credentials) throws IOException, NotBoundException {
        RMIServer stub = (RMIServer) LocateRegistry.getRegistry(host, port).lookup("jmxrmi");
        connector = new RMIConnector(stub, Map.of());
        connector.connect(credentials == null ? Map.of() : Map.of(JMXConnector.CREDENTIALS, credentials));
        server = connector.getMBeanServerConnection();
    }

    /** The properties of the JVM and of Cassandra, for JSON. A property that this version does not have is null. */
    Map<String, Object> describe() throws IOException, JMException {
        String runtime = "java.lang:type=Runtime";
        Map<String, String> properties = properties(runtime);
        CompositeData heap = (CompositeData) get("java.lang:type=Memory", "HeapMemoryUsage");
        return Answer.object(
                "pid", Long.parseLong(((String) get(runtime, "Name")).split("@")[0]),
                "java_version", properties.get("java.version"),
                "java_runtime_version", properties.get("java.runtime.version"),
                "java_vendor", properties.get("java.vendor"),
                "vm_name", get(runtime, "VmName"),
                "vm_version", get(runtime, "VmVersion"),
                "vm_vendor", get(runtime, "VmVendor"),
                "uptime_ms", get(runtime, "Uptime"),
                "arguments", list(get(runtime, "InputArguments")),
                "collectors", names("java.lang:type=GarbageCollector,*"),
                "heap_init_bytes", heap.get("init"),
                "heap_max_bytes", heap.get("max"),
                "heap_used_bytes", heap.get("used"),
                "flags", flags(),
                "cassandra", cassandra());
    }

    @Override
    public void close() throws IOException {
        connector.close();
    }

    /** The number of compactions that run or wait. */
    long pendingCompactions() throws IOException, JMException {
        return ((Number) get(PENDING, "Value")).longValue();
    }

    /** Writes the memtables of the keyspace's tables to disk, and returns when they are written. */
    void flush(String keyspace) throws IOException, JMException {
        Object[] arguments = {keyspace, new String[0]};
        String[] types = {String.class.getName(), String[].class.getName()};
        server.invoke(new ObjectName(STORAGE), "forceKeyspaceFlush", arguments, types);
    }

    /** The size of the live files of all tables of the keyspace on this node's disk, bytes. */
    long bytesOnDisk(String keyspace) throws IOException, JMException {
        String bean = "org.apache.cassandra.metrics:type=Keyspace,keyspace=" + keyspace + ",name=LiveDiskSpaceUsed";
        Object bytes = get(bean, "Value");
        if (bytes == null) {
            throw new IOException("there is no keyspace " + keyspace);
        }
        return ((Number) bytes).longValue();
    }

    /** The keyspaces that clients made. */
    List<String> keyspacesOfClients() throws IOException, JMException {
        List<String> found = new ArrayList<>();
        for (Object name : list(get(STORAGE, "NonSystemKeyspaces"))) {
            if (!((String) name).startsWith("system")) { // some of the database's own are among them
                found.add((String) name);
            }
        }
        return found;
    }

    /** Compacts all files of each table of the keyspace together, and returns when that is done. */
    void compact(String keyspace) throws IOException, JMException {
        Object[] arguments = {false, keyspace, new String[0]};
        String[] types = {boolean.class.getName(), String.class.getName(), String[].class.getName()};
        server.invoke(new ObjectName(STORAGE), "forceKeyspaceCompaction", arguments, types);
    }

    /** Begins a repair of the keyspace, and returns its number; 0 if there is nothing to repair. */
    int repair(String keyspace, Map<String, String> options) throws IOException, JMException {
        Object[] arguments = {keyspace, options};
        String[] types = {String.class.getName(), Map.class.getName()};
        return (Integer) server.invoke(new ObjectName(STORAGE), "repairAsync", arguments, types);
    }

    /** Has the listener told what Cassandra notifies of until the end of the connection, and of that end. */
    void listen(NotificationListener listener) throws IOException, JMException {
        connector.addConnectionNotificationListener(listener, null, null);
        server.addNotificationListener(new ObjectName(STORAGE), listener, null, null);
    }

    /**
     * Lets the node hand over what it has and leave the ring, and returns when it has. From 4.0 on it refuses where the
     * system's own keyspaces keep fewer replicas, unless it is told to go on.
     */
    void decommission() throws IOException, JMException {
        ObjectName storage = new ObjectName(STORAGE);
        try {
            server.invoke(storage, "decommission", new Object[] {true}, new String[] {boolean.class.getName()});
        } catch (ReflectionException before40) {
            server.invoke(storage, "decommission", new Object[0], new String[0]);
        }
    }

    /** The share of the bytes of all compactions that run now which is compacted; null if none runs. */
    Double shareCompacted() throws IOException, JMException {
        double completed = 0;
        double total = 0;
        for (Object one : list(get("org.apache.cassandra.db:type=CompactionManager", "Compactions"))) {
            Map<?, ?> compaction = (Map<?, ?>) one;
            completed += Double.parseDouble((String) compaction.get("completed"));
            total += Double.parseDouble((String) compaction.get("total"));
        }
        return total > 0 ? completed / total : null;
    }

    /** What the node knows of the ring, and what it streams. */
    Map<String, Object> ring() throws IOException, JMException {
        Object streams = get("org.apache.cassandra.net:type=StreamManager", "CurrentStreams");
        Object received = server.isRegistered(new ObjectName(RECEIVED))
                ? server.getAttribute(new ObjectName(RECEIVED), "Count")
                : 0L;
        return Answer.object(
                "mode", get(STORAGE, "OperationMode"),
                "live", list(get(STORAGE, "LiveNodes")),
                "unreachable", list(get(STORAGE, "UnreachableNodes")),
                "joining", list(get(STORAGE, "JoiningNodes")),
                "leaving", list(get(STORAGE, "LeavingNodes")),
                "moving", list(get(STORAGE, "MovingNodes")),
                "members", new ArrayList<Object>(((Map<?, ?>) get(STORAGE, "HostIdMap")).keySet()),
                "streams", ((Collection<?>) streams).size(),
                "received_bytes", received);
    }

    private Map<String, Object> cassandra() throws IOException, JMException {
        if (!server.isRegistered(new ObjectName(STORAGE))) {
            return null;
        }
        return Answer.object(
                "release_version", get(STORAGE, "ReleaseVersion"),
                "operation_mode", get(STORAGE, "OperationMode"),
                "live_nodes", list(get(STORAGE, "LiveNodes")),
                "unreachable_nodes", list(get(STORAGE, "UnreachableNodes")),
                "joining_nodes", list(get(STORAGE, "JoiningNodes")),
                "pending_compactions", get(PENDING, "Value"),
                "dropped_messages", dropped());
    }

    /** The number of messages that were dropped since the node's start, by kind. Kinds without any are left out. */
    private Map<String, Object> dropped() throws IOException, JMException {
        Map<String, Object> dropped = new TreeMap<>();
        ObjectName pattern = new ObjectName("org.apache.cassandra.metrics:type=DroppedMessage,name=Dropped,*");
        for (ObjectName name : server.queryNames(pattern, null)) {
            long count = ((Number) server.getAttribute(name, "Count")).longValue();
            if (count > 0) {
                dropped.put(name.getKeyProperty("scope"), count);
            }
        }
        return dropped;
    }

    /** The value and origin, by name, of every diagnostic option and of those FLAGS that the JVM has. */
    private Map<String, Object> flags() throws IOException, JMException {
        ObjectName hotspot = new ObjectName(HOTSPOT);
        Map<String, Object> flags = new TreeMap<>();
        if (!server.isRegistered(hotspot)) {
            return flags;
        }
        for (CompositeData option : (CompositeData[]) server.getAttribute(hotspot, "DiagnosticOptions")) {
            flags.put((String) option.get("name"), flag(option));
        }
        for (String name : FLAGS) {
            try {
                Object[] arguments = {name};
                String[] types = {String.class.getName()};
                flags.put(name, flag((CompositeData) server.invoke(hotspot, "getVMOption", arguments, types)));
            } catch (MBeanException | RuntimeException absent) {
                continue; // this JVM has no such flag
            }
        }
        return flags;
    }

    private static Map<String, Object> flag(CompositeData option) {
        return Answer.object("value", option.get("value"), "origin", option.get("origin"));
    }

    private Map<String, String> properties(String runtime) throws IOException, JMException {
        Map<String, String> properties = new TreeMap<>();
        for (Object row : ((TabularData) get(runtime, "SystemProperties")).values()) {
            CompositeData property = (CompositeData) row;
            properties.put((String) property.get("key"), (String) property.get("value"));
        }
        return properties;
    }

    private TreeSet<String> names(String pattern) throws IOException, JMException {
        TreeSet<String> names = new TreeSet<>();
        server.queryNames(new ObjectName(pattern), null).forEach(name -> names.add(name.getKeyProperty("name")));
        return names;
    }

    private Object get(String bean, String attribute) throws IOException, JMException {
        try {
            return server.getAttribute(new ObjectName(bean), attribute);
        } catch (InstanceNotFoundException absent) {
            return null;
        }
    }

    private static List<Object> list(Object value) {
        if (value instanceof Object[]) {
            return Arrays.asList((Object[]) value);
        }
        return value instanceof List ? new ArrayList<>((List<?>) value) : List.of();
    }
}
