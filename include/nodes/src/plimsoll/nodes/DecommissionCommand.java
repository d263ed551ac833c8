package plimsoll.nodes;

import java.io.IOException;
import java.util.Map;
import javax.management.JMException;
import picocli.CommandLine.Command;

/** {@code decommission}: nodes hand over what they have, and leave the ring. Their JVMs stay up. */
@Command(
        name = "decommission",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        showDefaultValues = true,
        description = "Lets nodes hand over what they have, and leave; its last line is one of JSON.")
final class DecommissionCommand extends NodesCommand {
    @Override
    Map<String, Object> change(JvmInspection node) throws IOException, JMException {
        long start = System.nanoTime();
        node.decommission();
        Object mode = node.ring().get("mode");
        if (!"DECOMMISSIONED".equals(mode)) {
            throw new IOException("is " + mode + " after it left");
        }
        return Answer.object("mode", mode, "seconds", Seconds.since(start));
    }

    @Override
    String progress(JvmInspection node) throws IOException, JMException {
        Map<String, Object> ring = node.ring();
        return "is " + ring.get("mode") + " with " + ring.get("streams") + " streams";
    }
}
