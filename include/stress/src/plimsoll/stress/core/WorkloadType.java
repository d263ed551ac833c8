package plimsoll.stress.core;

import java.util.List;

/** A kind of workload that can be requested by name. */
public interface WorkloadType {
    String name();

    /** Describes the workload and its origin in a sentence or two. */
    String about();

    List<Option> options();

    /**
     * Makes the workload with these options. Throws IllegalArgumentException for options that contradict one another.
     */
    Workload make(Options options);
}
