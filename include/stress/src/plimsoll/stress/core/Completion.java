package plimsoll.stress.core;

/** Receives the end of an operation. */
@FunctionalInterface
public interface Completion {
    /**
     * @param rows number of rows of the answer, or of those that were written
     * @param error the error of a failed operation, or null
     */
    void ended(int rows, Throwable error);

    /** Receives a warning that came with an answer, before the end. */
    default void warned(String warning) {}
}
