package plimsoll.stress.cql;

import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.ColumnDefinition;
import com.datastax.oss.driver.api.core.cql.ColumnDefinitions;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import java.util.List;
import java.util.function.UnaryOperator;
import plimsoll.stress.core.Field;

/** A prepared statement, with the assignment of an operation's values to its markers. */
final class Statement {
    private final PreparedStatement prepared;
    /** By marker: the index of the field. */
    private final int[] fields;
    /** By marker: makes a value of the marker's type. */
    private final UnaryOperator<Object>[] types;

    private final DefaultConsistencyLevel consistency;

    /**
     * @param consistency the consistency level; null for the session's
     * @throws IllegalArgumentException for a marker without a field, or of a type for which no value can be made
     */
    @SuppressWarnings("unchecked")
    Statement(PreparedStatement prepared, List<Field> named, String consistency) {
        this.prepared = prepared;
        this.consistency = consistency == null ? null : DefaultConsistencyLevel.valueOf(consistency);
        ColumnDefinitions markers = prepared.getVariableDefinitions();
        fields = new int[markers.size()];
        types = new UnaryOperator[markers.size()];
        for (int m = 0; m < fields.length; m++) {
            ColumnDefinition marker = markers.get(m);
            fields[m] = index(named, marker.getName().asInternal());
            types[m] = Types.of(marker.getType(), marker.getName().asInternal());
        }
    }

    BoundStatement bind(Object[] row) {
        Object[] values = new Object[fields.length];
        for (int m = 0; m < values.length; m++) {
            values[m] = types[m].apply(row[fields[m]]);
        }
        BoundStatement bound = prepared.bind(values);
        return consistency == null ? bound : bound.setConsistencyLevel(consistency);
    }

    private static int index(List<Field> named, String marker) {
        for (int f = 0; f < named.size(); f++) {
            if (named.get(f).name.equalsIgnoreCase(marker)) {
                return f;
            }
        }
        throw new IllegalArgumentException("nothing is bound to the marker :" + marker);
    }
}
