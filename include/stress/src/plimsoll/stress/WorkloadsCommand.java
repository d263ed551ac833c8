package plimsoll.stress;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import plimsoll.stress.core.Json;
import plimsoll.stress.core.Version;
import plimsoll.stress.core.WorkloadType;
import plimsoll.stress.workloads.Catalogue;
import plimsoll.stress.workloads.Workloads;

/** {@code workloads}: lists the workloads with their options and operations. */
@Command(
        name = "workloads",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        description = "Lists the workloads with their options and operations, and the distributions.")
final class WorkloadsCommand implements Callable<Integer> {
    @Option(names = "--json", description = "Everything as one JSON document.")
    boolean json;

    @Override
    public Integer call() {
        if (json) {
            System.out.print(Json.document(Catalogue.describe()));
            return 0;
        }
        for (WorkloadType type : Workloads.ALL) {
            System.out.println(type.name() + ": " + type.about());
            type.options().forEach(option -> System.out.println("  " + line(option)));
        }
        return 0;
    }

    private static String line(plimsoll.stress.core.Option option) {
        Map<String, Object> described = option.describe();
        List<String> parts = new ArrayList<>();
        parts.add(option.name + " (" + described.get("type"));
        if (option.standard != null) {
            parts.add("; default " + option.standard);
        }
        parts.add("): " + option.about);
        return String.join("", parts);
    }
}
