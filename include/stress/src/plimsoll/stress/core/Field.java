package plimsoll.stress.core;

import java.util.List;

/** The values for one marker of an operation's statements. */
public final class Field {
    public final String name;
    public final Source source;
    /** Values with which to check, before anything is sent, that all fit the marker's type; may be empty. */
    public final List<Object> examples;

    public Field(String name, Source source) {
        this(name, source, List.of());
    }

    public Field(String name, Source source, List<Object> examples) {
        this.name = name;
        this.source = source;
        this.examples = examples;
    }
}
