package plimsoll.stress.hbase;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** How names of hosts are looked up. */
final class NameLookup {
    private NameLookup() {}

    /**
     * Has the JVM choose its own way while it sees none of the libraries. From Java 18 on, its first look-up chooses, for
     * good, the first provider that the class path names: HBase's jar names one that it does not contain.
     */
    static void byTheJvm() {
        Thread thread = Thread.currentThread();
        ClassLoader libraries = thread.getContextClassLoader();
        thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
        try {
            InetAddress.getByName("localhost");
        } catch (UnknownHostException error) {
            // It was looked up, which is all that it takes.
        } finally {
            thread.setContextClassLoader(libraries);
        }
    }
}
