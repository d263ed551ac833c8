package plimsoll.stress.core;

/** What an operation sends at once: a statement of CQL and, where other protocols can say the same, an access. */
public final class Command {
    /** The statement, with markers {@code :name} for the fields of its operation. */
    public final String statement;
    /** The statement's place in the definition, for messages: {@code operations[0] (reads).statement}. */
    public final String place;
    /** The same in the language of no database; null where only CQL can say it. */
    public final Access access;

    public Command(String statement, String place) {
        this(statement, place, null);
    }

    public Command(String statement, String place, Access access) {
        this.statement = statement;
        this.place = place;
        this.access = access;
    }
}
