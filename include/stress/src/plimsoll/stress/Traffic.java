package plimsoll.stress;

import com.datastax.oss.driver.api.core.cql.BoundStatement;
import java.util.SplittableRandom;

/** One thread's stream of requests: the mix of operations, their keys and their values. */
final class Traffic {
    private final Workload.Statements statements;
    private final PartitionKeys keys;
    private final SplittableRandom random;
    private final double readShare;

    Traffic(Workload.Statements statements, PartitionKeys keys, SplittableRandom random, double readShare) {
        this.statements = statements;
        this.keys = keys;
        this.random = random;
        this.readShare = readShare;
    }

    /** The same stream with writes only. */
    Traffic writesOnly() {
        return new Traffic(statements, keys, random, 0);
    }

    /** What the next position of the schedule is: drawn for every position, whether it can be sent or not. */
    Operation draw() {
        return random.nextDouble() < readShare ? Operation.SELECT : Operation.MUTATION;
    }

    /** The next key's statement. */
    BoundStatement statement(Operation operation) {
        return operation == Operation.SELECT
                ? statements.select(keys.next())
                : statements.mutation(keys.next(), random);
    }
}
