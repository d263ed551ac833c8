package plimsoll.stress.cql;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.Statement;
import java.util.List;
import java.util.concurrent.CompletionStage;
import plimsoll.stress.core.Completion;
import plimsoll.stress.core.Operation;

/** How an operation is carried out. */
interface Action {
    void begin(CqlSession session, int command, Object[][] rows, Completion end);

    static Action of(Operation operation, List<StatementMaker> makers) {
        boolean firstPage = operation.firstPage;
        if (operation.rows > 1) {
            return (session, command, rows, end) -> take(
                    session.executeAsync(makers.get(command).batch(rows, operation.logged)), rows.length, 0, firstPage, end);
        }
        if (operation.order == Operation.Order.FIRST_THEN_ONE_OF) {
            return (session, command, rows, end) -> send(
                    session, makers.get(0).one(rows[0]), firstPage, next(session, makers.get(command), rows[0], end));
        }
        return (session, command, rows, end) -> send(session, makers.get(command).one(rows[0]), firstPage, end);
    }

    private static void send(CqlSession session, Statement<?> statement, boolean firstPage, Completion end) {
        take(session.executeAsync(statement), 1, 0, firstPage, end);
    }

    /**
     * Counts the rows of an answer, page by page to its last one, or those of its first page.
     *
     * @param written rows of a write, which has no answer with columns
     */
    private static void take(
            CompletionStage<AsyncResultSet> asked, int written, int before, boolean firstPage, Completion end) {
        asked.whenComplete((page, error) -> {
            if (error != null) {
                end.ended(0, error);
                return;
            }
            page.getExecutionInfo().getWarnings().forEach(end::warned);
            int rows = page.getColumnDefinitions().size() == 0 ? written : before + page.remaining();
            if (firstPage || !page.hasMorePages()) {
                end.ended(rows, null);
                return;
            }
            try {
                take(page.fetchNextPage(), written, rows, false, end);
            } catch (RuntimeException refused) {
                end.ended(0, refused);
            }
        });
    }

    /** Sends another statement with the same values once the first one is answered. */
    private static Completion next(CqlSession session, StatementMaker second, Object[] row, Completion end) {
        return new Completion() {
            @Override
            public void ended(int rows, Throwable error) {
                if (error != null) {
                    end.ended(0, error);
                    return;
                }
                try {
                    send(session, second.one(row), false, end);
                } catch (RuntimeException refused) {
                    end.ended(0, refused);
                }
            }

            @Override
            public void warned(String warning) {
                end.warned(warning);
            }
        };
    }
}
