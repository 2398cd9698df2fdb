/* The functions for tables: a padded text in, arrays filled in, and how far it was read. */

#include "scanner.h"

/* A padded text, from a position on, and arrays that the caller provides. */
typedef struct {
    Py_buffer views[4];
    int held;
    Part part;
} TableInput;

static void table_release(TableInput *input) {
    for (int view = 0; view < input->held; view++) PyBuffer_Release(&input->views[view]);
    input->held = 0;
}

static int table_hold(TableInput *input, PyObject *text, PyObject *const *arrays) {
    for (int view = 0; view < 4; view++, input->held++)
        if (PyObject_GetBuffer(view ? arrays[view - 1] : text, &input->views[view], view ? PyBUF_WRITABLE : PyBUF_SIMPLE) < 0)
            return 0;
    const Py_buffer *views = input->views;
    int is_valid = views[0].len >= PADDING;
    Part *part = &input->part;
    part->text = views[0].buf;
    part->size = views[0].len - PADDING;
    for (int at = 0; is_valid && at < PADDING; at++) is_valid = !part->text[part->size + at];
    is_valid = is_valid && part->used >= 0 && part->used <= part->size;
    for (int view = 1; view < 3; view++)
        is_valid = is_valid && !(views[view].len % 8) && !((uintptr_t)views[view].buf % 8);
    if (!is_valid) PyErr_SetString(PyExc_ValueError, "a text with zeros behind it, and aligned arrays, are expected");
    return is_valid;
}

/* The uses of the columns, one byte each, and the arrays for them. */
static int table_columns(Columns *columns, const TableInput *input, PyObject *bytes) {
    const char *uses = PyBytes_AsString(bytes);
    Py_ssize_t count = PyBytes_Size(bytes);
    const Py_buffer *views = input->views;
    int is_valid = count <= MAX_NAMES;
    columns->count = is_valid ? (uint32_t)count : 0;
    columns->wanted_count = 0;
    for (uint32_t at = 0; at < columns->count; at++) {
        columns->use[at] = (byte)uses[at];
        columns->wanted[at] = uses[at] & (COLUMN_ID | COLUMN_TEXT) ? (int)columns->wanted_count++ : -1;
        columns->previous[at] = -1;
    }
    columns->cells = views[1].buf;
    columns->values = views[2].buf;
    columns->text = views[3].buf;
    columns->text_room = views[3].len;
    columns->room = views[2].len / 8;
    columns->rows = columns->text_size = 0;
    is_valid = is_valid && views[1].len / 8 == columns->room * (2 * (int64_t)columns->wanted_count + 3);
    if (!is_valid) PyErr_SetString(PyExc_ValueError, "the arrays do not fit the columns");
    return is_valid;
}

/* How far the text was read, its lines, the rows and the bytes of their texts; None if Python must read it. */
static PyObject *table_result(RowsStatus status, const TableInput *input, int64_t rows, int64_t text_size) {
    if (status == ROWS_BAD) return Py_NewRef(Py_None);
    return Py_BuildValue("(LLLL)", (long long)input->part.used, (long long)input->part.line, (long long)rows,
                         (long long)text_size);
}

/* The position and the line to begin at, and whether the file ends with the text. */
static int table_place(PyObject *place, Part *part) {
    long long used, line;
    if (!PyArg_ParseTuple(place, "LLp", &used, &line, &part->is_last)) return 0;
    part->used = used;
    part->line = line;
    return 1;
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
    TableInput input = {.held = 0};
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
    table_release(&input);
    return result;
}

/* delimited(text, place, delimiter, is_quoted, uses, cells, values, texts): lines of cells as columns. */
static PyObject *table_delimited(PyObject *module, PyObject *arguments) {
    PyObject *text, *place, *uses, *arrays[3], *result = NULL;
    char delimiter;
    TableInput input = {.held = 0};
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
    table_release(&input);
    return result;
}

/* mapping(text, place, queries, entries, values, texts): the queries of {query: {document: number}}; in the result their
   number instead of that of lines. */
static PyObject *table_mapping(PyObject *module, PyObject *arguments) {
    PyObject *text, *place, *queries, *arrays[3], *result = NULL;
    TableInput input = {.held = 0};
    Py_buffer view;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OO!OOOO", &text, &PyTuple_Type, &place, &queries, &arrays[0], &arrays[1], &arrays[2]))
        return NULL;
    if (!table_place(place, &input.part) || PyObject_GetBuffer(queries, &view, PyBUF_WRITABLE) < 0) return NULL;
    if (table_hold(&input, text, arrays)) {
        int64_t room = input.views[2].len / 8, *entries = input.views[1].buf;
        Mapping mapping = {.queries = view.buf, .query_room = view.len / 8 / QUERY_PARTS, .starts = entries};
        mapping.lengths = entries + room;
        mapping.values = input.views[2].buf;
        mapping.room = room;
        mapping.text = input.views[3].buf;
        mapping.text_room = input.views[3].len;
        if (input.views[1].len / 8 != 2 * room || (uintptr_t)view.buf % 8) {
            PyErr_SetString(PyExc_ValueError, "the arrays do not fit the entries");
        } else {
            RowsStatus status = read_mapping(&mapping, &input.part);
            input.part.line = mapping.query_count;
            result = table_result(status, &input, mapping.count, mapping.text_size);
        }
    }
    table_release(&input);
    PyBuffer_Release(&view);
    return result;
}
