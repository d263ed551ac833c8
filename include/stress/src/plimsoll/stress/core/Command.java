package plimsoll.stress.core;

/** A statement in the database's own language, with markers {@code :name} for the fields of its operation. */
public final class Command {
    public final String statement;
    /** The statement's place in the definition, for messages: {@code operations[0] (reads).statement}. */
    public final String place;

    public Command(String statement, String place) {
        this.statement = statement;
        this.place = place;
    }
}
