import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.LocalDateTime;
import java.util.stream.Collectors;

/** A server of a test: writes what JVM it runs in to its folder, then makes garbage and logs until it is ended. */
public final class Churn {
    private static volatile byte[] garbage;

    public static void main(String[] arguments) throws Exception {
        var options = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        var beans = ManagementFactory.getGarbageCollectorMXBeans().stream();
        Files.writeString(Path.of("facts.txt"), String.join("\n",
                System.getProperty("java.runtime.version"),
                System.getProperty("java.vendor"),
                System.getProperty("java.vm.name"),
                options.getVMOption("MaxHeapSize").getValue(),
                beans.map(GarbageCollectorMXBean::getName).collect(Collectors.joining(",")),
                String.join(" ", ManagementFactory.getRuntimeMXBean().getInputArguments())));
        while (true) {
            for (int piece = 0; piece < 16; piece++) {
                garbage = new byte[1 << 20];
            }
            Files.writeString(Path.of("own.log"), LocalDateTime.now() + " flushed in 40 ms\n",
                    StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            Thread.sleep(200);
        }
    }
}
