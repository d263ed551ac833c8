package plimsoll.stress.core;

/** What clients speak with a database: an object with the options of {@code run} that only this protocol has. */
public interface Protocol {
    /** Returns the databases that speak it, for {@code --help}. */
    String databases();

    /** @throws StressException with {@link ExitCode#USAGE} if values make no sense */
    void check() throws StressException;

    /**
     * Returns what connects to the database that the options name.
     *
     * @param makesTables whether it creates the tables; otherwise it waits until another generator has
     */
    Connector connector(boolean makesTables);
}
