package plimsoll.stress;

/** The kinds of operation, under the names that tlp-stress gives them in its metrics and in its CSV file. */
enum Operation {
    MUTATION("mutations", "Mutations"),
    SELECT("selects", "Reads");

    static final Operation[] ALL = values();

    /** The name in file names, tags and JSON. */
    final String label;
    /** The name of the operation's group of columns in the CSV file. */
    final String column;

    Operation(String label, String column) {
        this.label = label;
        this.column = column;
    }
}
