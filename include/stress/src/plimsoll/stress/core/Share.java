package plimsoll.stress.core;

/**
 * The share of an operation among all operations: from an option of the workload, a number, or the rest that the others
 * leave. Options and numbers are weights: where no operation takes the rest, the weights are divided by their sum.
 */
public final class Share {
    /** The option with the weight, or null. */
    public final String option;
    /** The weight; NaN for the rest. */
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

    /**
     * Describes the share for programs that compute it: {@code {"option": …}}, {@code {"weight": …}}, {@code "rest"}.
     */
    Object describe() {
        if (isRest()) {
            return "rest";
        }
        return option == null ? Json.object("weight", weight) : Json.object("option", option);
    }
}
