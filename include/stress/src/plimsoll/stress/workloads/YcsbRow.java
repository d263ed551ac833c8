package plimsoll.stress.workloads;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import plimsoll.stress.core.Command;
import plimsoll.stress.core.Field;
import plimsoll.stress.core.Options;
import plimsoll.stress.core.Source;
import plimsoll.stress.core.distribution.Distribution;
import plimsoll.stress.core.distribution.Distributions;

/** The rows of YCSB's table: a key, and fields of letters. */
final class YcsbRow {
    final KeyedTable table;
    private final List<String> names = new ArrayList<>();
    private final Source text;
    private final boolean readsAll;
    private final boolean writesAll;

    YcsbRow(Options options) {
        for (int f = 0; f < options.small("fieldcount"); f++) {
            names.add("field" + f);
        }
        table = new KeyedTable("usertable", "y_id", "text", "key", names);
        text = Sources.letters(lengths(
                options.text("fieldlengthdistribution"), options.count("minfieldlength"), options.count("fieldlength")));
        readsAll = options.truth("readallfields");
        writesAll = options.truth("writeallfields");
    }

    /** Makes the lengths of fields, up to {@code most}; a constant length is {@code most}. */
    static Distribution lengths(String distribution, long least, long most) {
        if (distribution.equals("constant")) {
            return Distribution.of(random -> most);
        }
        return Distributions.of(Map.of(Distributions.NAME, distribution, "min", least, "max", most));
    }

    /** The commands that read: one for all fields, or one for each. */
    List<Command> reads() {
        return readsAll ? List.of(table.read()) : each(table::read);
    }

    /** The commands that update: one that writes all fields, or one for each. */
    List<Command> updates() {
        return writesAll ? List.of(table.update(names)) : each(name -> table.update(List.of(name)));
    }

    /** Makes the key and a text for every field. Statements that write one field use one of the texts. */
    List<Field> written(Field key) {
        List<Field> all = new ArrayList<>(List.of(key));
        names.forEach(name -> all.add(Sources.field(name, text)));
        return all;
    }

    private List<Command> each(Function<String, Command> made) {
        List<Command> each = new ArrayList<>();
        names.forEach(name -> each.add(made.apply(name)));
        return each;
    }
}
