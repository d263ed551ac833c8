package plimsoll.nodes;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code repair}: full repairs of all that nodes have of the keyspaces that are not the system's. */
@Command(
        name = "repair",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        showDefaultValues = true,
        description = "Repairs in full what nodes have of the clients' keyspaces; its last line is one of JSON.")
final class RepairCommand extends NodesCommand {
    @Override
    Map<String, Object> change(JvmInspection node) throws Exception {
        List<String> repaired = new ArrayList<>();
        long start = System.nanoTime();
        for (String keyspace : node.keyspacesOfClients()) {
            if (Repair.of(node, keyspace)) {
                repaired.add(keyspace);
            }
        }
        if (repaired.isEmpty()) {
            throw new IllegalStateException("nothing to repair: no keyspace has a replica on another node");
        }
        return Answer.object("keyspaces", repaired, "seconds", Seconds.since(start));
    }
}
