package plimsoll.stress.core;

/** Receives the end of an operation. */
@FunctionalInterface
public interface Completion {
    /**
     * @param rows how many rows the answer's first page held; 0 for writes
     * @param error what it failed with, or null
     */
    void ended(int rows, Throwable error);
}
