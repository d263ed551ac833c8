package plimsoll.nodes;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import javax.management.JMException;
import picocli.CommandLine.Command;

/** {@code compact}: major compactions of all keyspaces that are not the system's. */
@Command(
        name = "compact",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        showDefaultValues = true,
        description = "Compacts the clients' keyspaces on every node at once; its last line is one of JSON.")
final class CompactCommand extends NodesCommand {
    @Override
    Map<String, Object> change(JvmInspection node) throws IOException, JMException {
        List<String> keyspaces = node.keyspacesOfClients();
        long before = 0;
        long after = 0;
        long start = System.nanoTime();
        for (String keyspace : keyspaces) {
            before += node.bytesOnDisk(keyspace);
            node.compact(keyspace);
            after += node.bytesOnDisk(keyspace);
        }
        return Answer.object(
                "keyspaces", keyspaces, "seconds", Seconds.since(start), "bytes_before", before, "bytes_after", after);
    }

    @Override
    String progress(JvmInspection node) throws IOException, JMException {
        Double share = node.shareCompacted();
        return share == null ? "" : String.format("%.0f %%", 100 * share);
    }
}
