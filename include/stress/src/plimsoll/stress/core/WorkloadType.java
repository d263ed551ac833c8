package plimsoll.stress.core;

import java.util.List;

/** A kind of workload: what can be asked for by name. */
public interface WorkloadType {
    String name();

    /** What it is, and whose, in a sentence or two. */
    String about();

    List<Option> options();

    /** The workload with such options. IllegalArgumentException says which of them do not fit together. */
    Workload make(Options options);
}
