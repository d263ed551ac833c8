package plimsoll.stress.core;

/**
 * How an operation's share of all operations is told: by an option of the workload, by a number, or as what the others
 * leave. Options and numbers are weights: where no operation takes the rest, their sum counts as the whole.
 */
public final class Share {
    /** The option that gives the weight, or null. */
    public final String option;
    /** The weight; not a number for the rest. */
    final double weight;

    private Share(String option, double weight) {
        this.option = option;
        this.weight = weight;
    }

    public static Share of(double weight) {
        return new Share(null, weight);
    }

    public static Share option(String name, Options options) {
        return new Share(name, options.number(name));
    }

    public static Share rest() {
        return new Share(null, Double.NaN);
    }

    boolean isRest() {
        return Double.isNaN(weight);
    }

    /** For programs that work the share out themselves: {@code {"option": …}}, {@code {"weight": …}}, {@code "rest"}. */
    Object describe() {
        if (isRest()) {
            return "rest";
        }
        return option == null ? Json.object("weight", weight) : Json.object("option", option);
    }
}
