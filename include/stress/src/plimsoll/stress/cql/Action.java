package plimsoll.stress.cql;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchStatementBuilder;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import java.util.List;
import java.util.function.BiConsumer;
import plimsoll.stress.core.Completion;
import plimsoll.stress.core.Operation;

/** How an operation is carried out. */
interface Action {
    void begin(CqlSession session, int command, Object[][] rows, Completion end);

    static Action of(Operation operation, List<Statement> statements) {
        if (operation.rows > 1) {
            return (session, command, rows, end) ->
                    session.executeAsync(batch(statements.get(command), rows)).whenComplete(told(end));
        }
        if (operation.order == Operation.Order.FIRST_THEN_ONE_OF) {
            return (session, command, rows, end) ->
                    inTurn(session, statements.get(0), statements.get(command), rows[0], end);
        }
        return (session, command, rows, end) ->
                session.executeAsync(statements.get(command).bind(rows[0])).whenComplete(told(end));
    }

    private static BatchStatement batch(Statement statement, Object[][] rows) {
        BatchStatementBuilder batch = BatchStatement.builder(DefaultBatchType.UNLOGGED);
        for (Object[] row : rows) {
            batch.addStatement(statement.bind(row));
        }
        return batch.build();
    }

    private static void inTurn(CqlSession session, Statement first, Statement second, Object[] row, Completion end) {
        session.executeAsync(first.bind(row)).whenComplete((answer, error) -> {
            if (error != null) {
                end.ended(0, error);
                return;
            }
            try {
                session.executeAsync(second.bind(row)).whenComplete(told(end));
            } catch (RuntimeException refused) {
                end.ended(0, refused);
            }
        });
    }

    private static BiConsumer<AsyncResultSet, Throwable> told(Completion end) {
        return (answer, error) -> end.ended(answer == null ? 0 : answer.remaining(), error);
    }
}
