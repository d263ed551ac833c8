package plimsoll.stress.core;

/** The values for one marker of an operation's statements. */
public final class Field {
    public final String name;
    public final Source source;

    public Field(String name, Source source) {
        this.name = name;
        this.source = source;
    }
}
