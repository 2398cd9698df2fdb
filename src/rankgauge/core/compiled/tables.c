/* The functions for tables: a padded text in, arrays filled in, and how far it was read. */

#include "scanner.h"

/* A padded text, from a position on, and arrays that the caller provides. */
typedef struct {
    Held held;
    Part part;
    int64_t *cells;
    double *values;
    byte *texts;
    Py_ssize_t cell_count, value_count, text_room;
} TableInput;

/* The position and the line to begin at, and whether the file ends with the text. */
static int table_place(PyObject *place, Part *part) {
    long long used, line;
    if (!PyArg_ParseTuple(place, "LLp", &used, &line, &part->is_last)) return 0;
    part->used = used;
    part->line = line;
    return 1;
}

/* Hold the text and the arrays. The place must be inside the text, and the lines that follow can be counted. */
static int table_hold(TableInput *input, PyObject *text, PyObject *const *arrays) {
    Held *held = &input->held;
    Part *part = &input->part;
    Py_ssize_t size;
    if (!(part->text = hold(held, text, BYTES, &size)) ||
        !(input->cells = hold_writable(held, arrays[0], INT64S, &input->cell_count)) ||
        !(input->values = hold_writable(held, arrays[1], DOUBLES, &input->value_count)) ||
        !(input->texts = hold_writable(held, arrays[2], BYTES, &input->text_room)))
        return 0;
    part->size = size - PADDING;
    int is_valid = part->size >= 0 && part->used >= 0 && part->used <= part->size && part->line >= 0 &&
                   part->line < INT64_MAX - size && !has_overlap(held);
    for (int at = 0; is_valid && at < PADDING; at++) is_valid = !part->text[part->size + at];
    if (!is_valid) PyErr_SetString(PyExc_ValueError, "a text with zeros behind it, a place in it, and arrays are expected");
    return is_valid;
}

/* The uses of the columns, one byte each, and the arrays for them. */
static int table_columns(Columns *columns, const TableInput *input, PyObject *bytes) {
    const char *uses = PyBytes_AsString(bytes);
    Py_ssize_t count = PyBytes_Size(bytes);
    int is_valid = count <= MAX_NAMES;
    columns->count = is_valid ? (uint32_t)count : 0;
    columns->wanted_count = 0;
    for (uint32_t at = 0; at < columns->count; at++) {
        columns->use[at] = (byte)uses[at];
        columns->wanted[at] = uses[at] & (COLUMN_ID | COLUMN_TEXT) ? (int)columns->wanted_count++ : -1;
        columns->previous[at] = -1;
    }
    columns->cells = input->cells;
    columns->values = input->values;
    columns->text = input->texts;
    columns->text_room = input->text_room;
    columns->room = input->value_count;
    columns->rows = columns->text_size = 0;
    int64_t per_row = 2 * (int64_t)columns->wanted_count + 3;
    is_valid = is_valid && input->cell_count % per_row == 0 && input->cell_count / per_row == columns->room;
    if (!is_valid) PyErr_SetString(PyExc_ValueError, "the arrays do not fit the columns");
    return is_valid;
}

/* How far the text was read, its lines, the rows and the bytes of their texts; None if Python must read it. */
static PyObject *table_result(RowsStatus status, const TableInput *input, int64_t rows, int64_t text_size) {
    if (status == ROWS_BAD) return Py_NewRef(Py_None);
    return Py_BuildValue("(LLLL)", (long long)input->part.used, (long long)input->part.line, (long long)rows,
                         (long long)text_size);
}

static int table_names(Record *record, const Columns *columns, PyObject *names) {
    if (PyTuple_Size(names) != (Py_ssize_t)columns->count) {
        PyErr_SetString(PyExc_ValueError, "a use for each name is expected");
        return 0;
    }
    for (uint32_t at = 0; at < columns->count; at++) {
        char *name;
        Py_ssize_t length;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(names, (Py_ssize_t)at), &name, &length) < 0) return 0;
        record->names[at].text = (const byte *)name;
        record->names[at].length = length;
    }
    return 1;
}

/* records(text, place, is_array, names, uses, cells, values, texts): objects as columns. */
static PyObject *table_records(PyObject *module, PyObject *arguments) {
    PyObject *text, *place, *names, *uses, *arrays[3], *result = NULL;
    int is_array;
    TableInput input = {.cells = NULL};
    Columns columns;
    Record record;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OO!pO!SOOO", &text, &PyTuple_Type, &place, &is_array, &PyTuple_Type, &names, &uses,
                          &arrays[0], &arrays[1], &arrays[2]))
        return NULL;
    if (table_place(place, &input.part) && table_hold(&input, text, arrays) &&
        table_columns(&columns, &input, uses) && table_names(&record, &columns, names)) {
        RowsStatus status = is_array ? read_json_array(&record, &columns, &input.part)
                                     : read_json_lines(&record, &columns, &input.part);
        result = table_result(status, &input, columns.rows, columns.text_size);
    }
    release(&input.held);
    return result;
}

/* delimited(text, place, delimiter, is_quoted, uses, cells, values, texts): lines of cells as columns. */
static PyObject *table_delimited(PyObject *module, PyObject *arguments) {
    PyObject *text, *place, *uses, *arrays[3], *result = NULL;
    char delimiter;
    TableInput input = {.cells = NULL};
    Columns columns;
    Delimited file;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OO!cpSOOO", &text, &PyTuple_Type, &place, &delimiter, &file.is_quoted, &uses,
                          &arrays[0], &arrays[1], &arrays[2]))
        return NULL;
    if (table_place(place, &input.part) && table_hold(&input, text, arrays) &&
        table_columns(&columns, &input, uses)) {
        RowsStatus status;
        file.delimiter = (byte)delimiter;
        Py_BEGIN_ALLOW_THREADS
        status = read_delimited(&file, &columns, &input.part);
        Py_END_ALLOW_THREADS
        result = table_result(status, &input, columns.rows, columns.text_size);
    }
    release(&input.held);
    return result;
}

/* mapping(text, place, queries, entries, values, texts): the queries of {query: {document: number}}; in the result their
   number instead of that of lines. */
static PyObject *table_mapping(PyObject *module, PyObject *arguments) {
    PyObject *text, *place, *queries, *arrays[3], *result = NULL;
    TableInput input = {.cells = NULL};
    Py_ssize_t query_cells;
    Mapping mapping = {.count = 0};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OO!OOOO", &text, &PyTuple_Type, &place, &queries, &arrays[0], &arrays[1], &arrays[2]))
        return NULL;
    if (table_place(place, &input.part) && (mapping.queries = hold_writable(&input.held, queries, INT64S, &query_cells)) &&
        table_hold(&input, text, arrays)) {
        if (input.cell_count % 2 || input.cell_count / 2 != input.value_count) {
            PyErr_SetString(PyExc_ValueError, "the arrays do not fit the entries");
        } else {
            mapping.query_room = query_cells / QUERY_PARTS;
            mapping.starts = input.cells;
            mapping.lengths = input.cells + input.value_count;
            mapping.values = input.values;
            mapping.room = input.value_count;
            mapping.text = input.texts;
            mapping.text_room = input.text_room;
            RowsStatus status = read_mapping(&mapping, &input.part);
            input.part.line = mapping.query_count;
            result = table_result(status, &input, mapping.count, mapping.text_size);
        }
    }
    release(&input.held);
    return result;
}
