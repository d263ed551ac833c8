package plimsoll.stress.hbase;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.hadoop.hbase.client.AsyncTable;
import plimsoll.stress.core.Command;
import plimsoll.stress.core.Completion;
import plimsoll.stress.core.Operation;

/** How an operation is carried out. A batch is one operation, which ends with the last of its rows. */
interface Action {
    void begin(int command, Object[][] rows, Completion end);

    /** @param tables makes the table of a name, with the time-outs and attempts of the operation */
    static Action of(Operation operation, Function<String, AsyncTable<?>> tables) {
        List<Step> steps = new ArrayList<>();
        for (Command command : operation.commands) {
            steps.add(Step.of(command.access, new Columns(operation.fields), tables.apply(command.access.table)));
        }
        if (operation.order == Operation.Order.FIRST_THEN_ONE_OF) {
            return (command, rows, end) -> steps.get(0)
                    .begin(rows)
                    .thenCompose(found -> steps.get(command).begin(rows))
                    .whenComplete((count, error) -> end.ended(error == null ? count : 0, error));
        }
        return (command, rows, end) -> steps.get(command)
                .begin(rows)
                .whenComplete((count, error) -> end.ended(error == null ? count : 0, error));
    }
}
