package plimsoll.stress.cql;

import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchStatementBuilder;
import com.datastax.oss.driver.api.core.cql.ColumnDefinition;
import com.datastax.oss.driver.api.core.cql.ColumnDefinitions;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.type.DataType;
import com.datastax.oss.driver.api.core.type.codec.registry.CodecRegistry;
import java.util.List;
import java.util.function.UnaryOperator;
import plimsoll.stress.core.Field;
import plimsoll.stress.core.Operation;

/** Makes statements from an operation's values: prepared, or as text with the values in it. */
final class StatementMaker {
    private final PreparedStatement prepared;
    /** The text with places for literals; null where the prepared statement is sent. */
    private final Literals text;

    private final CodecRegistry codecs;
    /** By marker: the index of the field. */
    private final int[] fields;
    /** By marker: its type. */
    private final DataType[] types;
    /** By marker: makes a value of the marker's type. */
    private final UnaryOperator<Object>[] values;

    private final DefaultConsistencyLevel consistency;

    /**
     * @throws IllegalArgumentException for a marker without a field, of a type for which no value can be made, or of one
     *     that its field's values do not fit
     */
    @SuppressWarnings("unchecked")
    StatementMaker(PreparedStatement prepared, Operation operation, CodecRegistry codecs) {
        this.prepared = prepared;
        this.codecs = codecs;
        consistency =
                operation.consistency == null ? null : DefaultConsistencyLevel.valueOf(operation.consistency);
        ColumnDefinitions markers = prepared.getVariableDefinitions();
        fields = new int[markers.size()];
        types = new DataType[markers.size()];
        values = new UnaryOperator[markers.size()];
        for (int m = 0; m < fields.length; m++) {
            ColumnDefinition marker = markers.get(m);
            String name = marker.getName().asInternal();
            fields[m] = index(operation.fields, name);
            types[m] = marker.getType();
            values[m] = Types.of(types[m], name);
            Types.check(types[m], values[m], operation.fields.get(fields[m]));
        }
        text = operation.prepared ? null : new Literals(prepared.getQuery(), fields.length);
    }

    /** Returns the statement for one row. */
    Statement<?> one(Object[] row) {
        return text == null
                ? at(prepared.bind(converted(row)))
                : at(SimpleStatement.newInstance(literal(row)));
    }

    /** Returns the statement for several rows at once. As text it is one {@code BEGIN BATCH … APPLY BATCH}. */
    Statement<?> batch(Object[][] rows, boolean logged) {
        if (text != null) {
            StringBuilder batch = new StringBuilder(logged ? "BEGIN BATCH " : "BEGIN UNLOGGED BATCH ");
            for (Object[] row : rows) {
                batch.append(literal(row)).append("; ");
            }
            return at(SimpleStatement.newInstance(batch.append("APPLY BATCH").toString()));
        }
        BatchStatementBuilder batch =
                BatchStatement.builder(logged ? DefaultBatchType.LOGGED : DefaultBatchType.UNLOGGED);
        for (Object[] row : rows) {
            batch.addStatement(prepared.bind(converted(row)));
        }
        return at(batch.build());
    }

    private Statement<?> at(Statement<?> statement) {
        return consistency == null ? statement : statement.setConsistencyLevel(consistency);
    }

    private Object[] converted(Object[] row) {
        Object[] converted = new Object[fields.length];
        for (int m = 0; m < converted.length; m++) {
            converted[m] = values[m].apply(row[fields[m]]);
        }
        return converted;
    }

    private String literal(Object[] row) {
        Object[] converted = converted(row);
        return text.with(marker -> codecs.codecFor(types[marker], converted[marker]).format(converted[marker]));
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
