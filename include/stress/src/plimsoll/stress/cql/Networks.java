package plimsoll.stress.cql;

import com.datastax.oss.driver.api.core.loadbalancing.NodeDistance;
import com.datastax.oss.driver.api.core.loadbalancing.NodeDistanceEvaluator;
import com.datastax.oss.driver.api.core.metadata.Node;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

/**
 * The addresses of nodes that may be connected to: names, addresses, and networks such as {@code 10.0.0.0/24}.
 *
 * <p>The driver connects to whatever address the database names as a node's, and would log in there.
 */
final class Networks implements NodeDistanceEvaluator {
    private final List<byte[]> addresses = new ArrayList<>();
    private final List<Integer> lengths = new ArrayList<>();

    /** @throws IllegalArgumentException if one of them has no address, or is no network */
    Networks(List<String> names) {
        for (String name : names) {
            String[] parts = name.split("/", 2);
            try {
                for (InetAddress address : InetAddress.getAllByName(parts[0])) {
                    byte[] bytes = address.getAddress();
                    addresses.add(bytes);
                    lengths.add(parts.length == 2 ? Integer.parseInt(parts[1]) : bytes.length * Byte.SIZE);
                }
            } catch (UnknownHostException error) {
                throw new IllegalArgumentException("no address is known for " + name, error);
            } catch (NumberFormatException error) {
                throw new IllegalArgumentException(name + " is no network such as 10.0.0.0/24");
            }
        }
    }

    @Override
    public NodeDistance evaluateDistance(Node node, String localDatacenter) {
        SocketAddress address = node.getEndPoint().resolve();
        boolean isKnown = address instanceof InetSocketAddress && has(((InetSocketAddress) address).getAddress());
        return isKnown ? null : NodeDistance.IGNORED;
    }

    private boolean has(InetAddress address) {
        for (int n = 0; address != null && n < addresses.size(); n++) {
            if (begins(address.getAddress(), addresses.get(n), lengths.get(n))) {
                return true;
            }
        }
        return false;
    }

    private static boolean begins(byte[] address, byte[] network, int bits) {
        if (address.length != network.length) {
            return false;
        }
        for (int bit = 0; bit < bits; bit++) {
            int mask = 0x80 >> bit % Byte.SIZE;
            if ((address[bit / Byte.SIZE] & mask) != (network[bit / Byte.SIZE] & mask)) {
                return false;
            }
        }
        return true;
    }
}
