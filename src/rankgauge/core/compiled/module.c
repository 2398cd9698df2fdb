/* The module: buffers in, tuples and bytes out. Python's limited API of 3.11, so that one build serves all later
   versions; the interpreter lock is released while a block is scanned. No format of an argument or a result has a `#`:
   headers of 3.13 compile it to calls that 3.11 and 3.12 refuse. */

#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdlib.h>

#include "scanner.h"

/* One translation unit, so that what is called for each line can be inlined. */
#include "tokens.c"
#include "decimals.c"
#include "ids.c"
#include "sort.c"
#include "join.c"
#include "block.c"
#include "scattered.c"
#include "columns.c"
#include "check.c"
#include "buffers.c"
#include "dicts.c"
#include "cells.c"
#include "json.c"
#include "records.c"
#include "mapping.c"
#include "delimited.c"
#include "tables.c"

#define INTERFACE 7 /* to be changed with what Python calls here: core/compiled/__init__.py expects the same number */

typedef struct {
    PyObject_HEAD
    Join join;
    Checks checks;
    FoundQuery *queries;
    uint32_t query_room;
    Held held;
    int is_busy; /* while it is used: another thread must wait for its turn */
} Scanner;

/* Begin to use a scanner. Another thread may run whenever Python code does, or the interpreter lock is released. */
static int scanner_begin(Scanner *self) {
    if (self->is_busy) PyErr_SetString(PyExc_RuntimeError, "a scanner serves one thread at a time");
    return self->is_busy ? 0 : (self->is_busy = 1);
}

static void scanner_dealloc(PyObject *object) {
    Scanner *self = (Scanner *)object;
    PyTypeObject *type = Py_TYPE(object);
    join_free(&self->join);
    free(self->queries);
    release(&self->held);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* Scanner(queries, docs, offsets, in_doubles, max_id, seed): columns are (text, starts, lengths). */
static PyObject *scanner_new(PyTypeObject *type, PyObject *arguments, PyObject *names) {
    PyObject *queries, *docs, *offsets;
    int in_doubles;
    long long max_id;
    unsigned long long seed;
    if (names && PyDict_Size(names)) {
        PyErr_SetString(PyExc_TypeError, "Scanner takes no keyword arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "OOOpLK", &queries, &docs, &offsets, &in_doubles, &max_id, &seed)) return NULL;
    Scanner *self = (Scanner *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) return NULL;
    self->join.in_doubles = in_doubles;
    self->join.max_id = max_id < 0 ? 0 : max_id > (long long)MAX_TEXT ? MAX_TEXT : (uint32_t)max_id;
    self->join.seed = seed;
    if (!hold_column(&self->held, queries, &self->join.queries) || !hold_column(&self->held, docs, &self->join.docs) ||
        !(self->join.offsets = hold_offsets(&self->held, offsets, self->join.queries.count, self->join.docs.count))) {
        Py_DECREF(self);
        return NULL;
    }
    if (!join_prepare(&self->join)) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

/* Python's float of a text, in a moment with the interpreter lock. */
static int python_float(void *context, const byte *text, uint32_t length, double *value) {
    PyThreadState **state = context;
    PyEval_RestoreThread(*state);
    PyObject *digits = PyUnicode_DecodeASCII((const char *)text, (Py_ssize_t)length, NULL);
    PyObject *number = digits ? PyFloat_FromString(digits) : NULL;
    if (number) *value = PyFloat_AsDouble(number);
    int is_read = number != NULL;
    Py_XDECREF(digits);
    Py_XDECREF(number);
    *state = PyEval_SaveThread();
    return is_read;
}

static PyObject *block_result(const Block *block) {
    PyObject *queries =
        PyBytes_FromStringAndSize((const char *)block->queries, (Py_ssize_t)(block->query_count * sizeof *block->queries));
    if (!queries) return NULL;
    return Py_BuildValue("(kKKNkk)", (unsigned long)block->used, (unsigned long long)block->lines,
                         (unsigned long long)block->rows, queries, (unsigned long)block->tag,
                         (unsigned long)block->tag_length);
}

/* Scan a padded block, or only check it: what was found, or None if it is odd. */
static PyObject *run_block(Scanner *self, const byte *text, Py_ssize_t size, Block block, Checks *checks) {
    if (size < PADDING) return PyErr_Format(PyExc_ValueError, "a block needs padding");
    if (size - PADDING > (Py_ssize_t)MAX_TEXT) Py_RETURN_NONE;
    PyThreadState *state;
    uint64_t hits_before = self->join.hit_count;
    block.text = text;
    block.size = (uint32_t)(size - PADDING);
    block.hard = python_float;
    block.context = &state;
    block.queries = self->queries;
    block.query_room = self->query_room;
    state = PyEval_SaveThread();
    BlockStatus status = checks ? check_block(&self->join, &block, checks) : scan_block(&self->join, &block);
    PyEval_RestoreThread(state);
    self->queries = block.queries;
    self->query_room = block.query_room;
    if (status == BLOCK_OK) {
        PyObject *result = block_result(&block);
        if (!result) self->join.hit_count = hits_before;
        return result;
    }
    if (status == BLOCK_ODD) Py_RETURN_NONE;
    return status == BLOCK_MEMORY ? PyErr_NoMemory() : NULL;
}

/* scan(buffer, is_last): what was found in a padded block, or None if it must be read by the other scanner. */
static PyObject *scanner_scan(PyObject *object, PyObject *arguments) {
    Scanner *self = (Scanner *)object;
    PyObject *source, *result = NULL;
    Held held = {.count = 0};
    Block block = {.is_last = 0};
    const byte *text;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(arguments, "Op", &source, &block.is_last) || !scanner_begin(self)) return NULL;
    if ((text = hold(&held, source, BYTES, &size))) result = run_block(self, text, size, block, NULL);
    release(&held);
    self->is_busy = 0;
    return result;
}

/* scan_scattered(buffer): what was found in a whole file, the rows of whose queries may be anywhere. */
static PyObject *scanner_scan_scattered(PyObject *object, PyObject *arguments) {
    Scanner *self = (Scanner *)object;
    PyObject *source, *result = NULL;
    Held held = {.count = 0};
    Block block = {.is_last = 1, .is_scattered = 1};
    const byte *text;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(arguments, "O", &source) || !scanner_begin(self)) return NULL;
    if ((text = hold(&held, source, BYTES, &size))) result = run_block(self, text, size, block, NULL);
    release(&held);
    self->is_busy = 0;
    return result;
}

/* check(buffer, is_last, cutoffs, least, most): the same without a join; the last number of a query is 1 if it may have
   a fault. */
static PyObject *scanner_check(PyObject *object, PyObject *arguments) {
    Scanner *self = (Scanner *)object;
    PyObject *source, *cutoffs, *result = NULL;
    Held held = {.count = 0};
    Block block = {.is_last = 0};
    Checks *checks = &self->checks;
    const byte *text;
    long long least, most;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(arguments, "OpOLL", &source, &block.is_last, &cutoffs, &least, &most) || !scanner_begin(self))
        return NULL;
    checks->least = least;
    checks->most = most;
    if ((text = hold(&held, source, BYTES, &size)) &&
        (checks->cutoffs = hold(&held, cutoffs, INT64S, &checks->cutoff_count)))
        result = run_block(self, text, size, block, checks);
    release(&held);
    self->is_busy = 0;
    return result;
}

/* hits(): five columns of int64 after one another: query, rank, first and last rank of the tie, judgment. */
static PyObject *scanner_hits(PyObject *object, PyObject *nothing) {
    Scanner *self = (Scanner *)object;
    (void)nothing;
    if (!scanner_begin(self)) return NULL;
    uint64_t count = self->join.hit_count;
    PyObject *result = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(Hit)));
    int64_t *out = result ? (int64_t *)(void *)PyBytes_AsString(result) : NULL;
    for (uint64_t at = 0; out && at < count; at++) {
        const Hit *hit = self->join.hits + at;
        int64_t cells[5] = {hit->query, hit->rank, hit->tie_first, hit->tie_last, hit->ordinal};
        for (int column = 0; column < 5; column++) memcpy(out + (uint64_t)column * count + at, &cells[column], sizeof *out);
    }
    self->is_busy = 0;
    return result;
}

/* join(docs, offsets, numbers, scores): join rows of whole queries; False if a document appears twice in one of them, and
   then nothing is kept. */
static PyObject *scanner_join(PyObject *object, PyObject *arguments) {
    Scanner *self = (Scanner *)object;
    PyObject *docs, *offsets, *numbers, *scores, *result = NULL;
    Held held = {.count = 0};
    ColumnRows all;
    Py_ssize_t number_count, score_count;
    if (!PyArg_ParseTuple(arguments, "OOOO", &docs, &offsets, &numbers, &scores) || !scanner_begin(self)) return NULL;
    if (hold_column(&held, docs, &all.docs) && (all.numbers = hold(&held, numbers, INT64S, &number_count)) &&
        (all.scores = hold(&held, scores, DOUBLES, &score_count)) &&
        (all.offsets = hold_offsets(&held, offsets, number_count, (Py_ssize_t)all.docs.count))) {
        all.query_count = number_count;
        int is_valid = score_count == all.docs.count && held.views[0].len <= (Py_ssize_t)MAX_TEXT &&
                       all.offsets[number_count] == all.docs.count;
        for (Py_ssize_t at = 0; is_valid && at < number_count; at++)
            is_valid = all.numbers[at] >= -1 && all.numbers[at] < self->join.queries.count;
        if (!is_valid) {
            PyErr_SetString(PyExc_ValueError, "columns do not fit one another");
        } else {
            JoinStatus status;
            Py_BEGIN_ALLOW_THREADS
            status = join_columns(&self->join, &all);
            Py_END_ALLOW_THREADS
            result = status == JOIN_MEMORY ? PyErr_NoMemory() : PyBool_FromLong(status == JOIN_OK);
        }
    }
    release(&held);
    self->is_busy = 0;
    return result;
}

static PyMethodDef scanner_methods[] = {
    {"join", scanner_join, METH_VARARGS, "Join rows of whole queries; False if a document appears twice."},
    {"scan", scanner_scan, METH_VARARGS, "Scan a padded block; None if it is odd."},
    {"scan_scattered", scanner_scan_scattered, METH_VARARGS, "Scan all rows of some queries; None if anything is odd."},
    {"check", scanner_check, METH_VARARGS, "Find the queries of a padded block that may have a fault; None if it is odd."},
    {"hits", scanner_hits, METH_NOARGS, "The columns of all hits so far."},
    {NULL, NULL, 0, NULL},
};

/* split(buffer, columns, ends): fill in where the columns end; whether the padded text is that regular. */
static PyObject *module_split(PyObject *module, PyObject *arguments) {
    PyObject *source, *target, *result = NULL;
    unsigned int columns;
    Held held = {.count = 0};
    const byte *text;
    int64_t *ends;
    Py_ssize_t size, count;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OIO", &source, &columns, &target)) return NULL;
    if ((text = hold(&held, source, BYTES, &size)) && (ends = hold_writable(&held, target, INT64S, &count))) {
        if (size < PADDING || !columns || count % (Py_ssize_t)columns || has_overlap(&held)) {
            PyErr_SetString(PyExc_ValueError, "a padded text, columns and an array with a place for each are expected");
        } else if (size - PADDING > (Py_ssize_t)MAX_TEXT) {
            result = Py_NewRef(Py_False);
        } else {
            int is_regular;
            Py_BEGIN_ALLOW_THREADS
            is_regular = split_regular(text, (uint32_t)(size - PADDING), columns, ends, (uint64_t)count / columns);
            Py_END_ALLOW_THREADS
            result = is_regular < 0 ? PyErr_NoMemory() : PyBool_FromLong(is_regular);
        }
    }
    release(&held);
    return result;
}

/* has_repeated(ids, group, seed): whether an id appears twice in a group. */
static PyObject *module_has_repeated(PyObject *module, PyObject *arguments) {
    PyObject *parts, *groups, *result = NULL;
    unsigned long long seed;
    Held held = {.count = 0};
    Column ids;
    Py_ssize_t count;
    const int64_t *group;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOK", &parts, &groups, &seed)) return NULL;
    if (hold_column(&held, parts, &ids) && (group = hold(&held, groups, INT64S, &count)) != NULL) {
        if (count != ids.count) {
            PyErr_SetString(PyExc_ValueError, "a group for each id is expected");
        } else {
            int is_repeated;
            Py_BEGIN_ALLOW_THREADS
            is_repeated = has_repeated(&ids, group, seed);
            Py_END_ALLOW_THREADS
            result = is_repeated < 0 ? PyErr_NoMemory() : PyBool_FromLong(is_repeated);
        }
    }
    release(&held);
    return result;
}

/* decimals(ids): the value of each text as a double, and its status, one byte each: 0 read, 1 no number, 2 not read here. */
static PyObject *module_decimals(PyObject *module, PyObject *parts) {
    PyObject *values = NULL, *statuses = NULL, *result = NULL;
    Held held = {.count = 0};
    Column ids;
    (void)module;
    if (hold_column(&held, parts, &ids)) {
        values = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(ids.count * (int64_t)sizeof(double)));
        statuses = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)ids.count);
    }
    if (values && statuses) {
        char *value = PyBytes_AsString(values), *status = PyBytes_AsString(statuses);
        Py_BEGIN_ALLOW_THREADS
        for (int64_t row = 0; row < ids.count; row++, value += sizeof(double)) {
            Decimal decimal = decimal_read(ids.text + ids.start[row], (uint32_t)ids.length[row]);
            double number = 0.0;
            if (decimal_is_usual(decimal))
                number = decimal_usual_value(decimal), status[row] = DECIMAL_OK;
            else
                status[row] = (char)decimal_value(decimal, &number);
            memcpy(value, &number, sizeof number);
        }
        Py_END_ALLOW_THREADS
        result = PyTuple_Pack(2, values, statuses);
    }
    Py_XDECREF(values);
    Py_XDECREF(statuses);
    release(&held);
    return result;
}

/* gather(ids): the texts of a column next to one another, with padding behind them. */
static PyObject *module_gather(PyObject *module, PyObject *parts) {
    PyObject *result = NULL;
    Held held = {.count = 0};
    Column ids;
    (void)module;
    if (hold_column(&held, parts, &ids)) {
        int64_t size = 0;
        for (int64_t row = 0; row < ids.count; row++) size += ids.length[row];
        result = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(size + PADDING));
        if (result) {
            byte *out = (byte *)PyBytes_AsString(result);
            Py_BEGIN_ALLOW_THREADS
            gather_ids(&ids, out);
            memset(out + size, 0, PADDING);
            Py_END_ALLOW_THREADS
        }
    }
    release(&held);
    return result;
}

/* number(ids, group, seed): a number for each distinct id of a group, as int64, and how many there are. */
static PyObject *module_number(PyObject *module, PyObject *arguments) {
    PyObject *parts, *groups, *result = NULL;
    unsigned long long seed;
    Held held = {.count = 0};
    Column ids;
    Py_ssize_t count;
    const int64_t *group;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOK", &parts, &groups, &seed)) return NULL;
    if (hold_column(&held, parts, &ids) && (group = hold(&held, groups, INT64S, &count)) != NULL) {
        PyObject *numbers = NULL;
        if (count != ids.count)
            PyErr_SetString(PyExc_ValueError, "a group for each id is expected");
        else
            numbers = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(int64_t));
        if (numbers) {
            int64_t *out = (int64_t *)(void *)PyBytes_AsString(numbers), distinct;
            Py_BEGIN_ALLOW_THREADS
            distinct = number_ids(&ids, group, seed, out);
            Py_END_ALLOW_THREADS
            if (distinct < 0)
                PyErr_NoMemory();
            else
                result = Py_BuildValue("(OL)", numbers, (long long)distinct);
            Py_DECREF(numbers);
        }
    }
    release(&held);
    return result;
}

/* hashes(ids, seed): the hash of each id, as uint64. */
static PyObject *module_hashes(PyObject *module, PyObject *arguments) {
    PyObject *parts, *result = NULL;
    unsigned long long seed;
    Held held = {.count = 0};
    Column ids;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OK", &parts, &seed)) return NULL;
    if (hold_column(&held, parts, &ids) &&
        (result = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(ids.count * (int64_t)sizeof(uint64_t))))) {
        uint64_t *out = (uint64_t *)(void *)PyBytes_AsString(result);
        Py_BEGIN_ALLOW_THREADS
        for (int64_t row = 0; row < ids.count; row++)
            out[row] = id_hash(ids.text + ids.start[row], (uint32_t)ids.length[row], seed);
        Py_END_ALLOW_THREADS
    }
    release(&held);
    return result;
}

/* order(group, begins): the rows by group, each group in the order of its rows; `begins` is where each group begins. */
static PyObject *module_order(PyObject *module, PyObject *arguments) {
    PyObject *groups, *begins, *result = NULL;
    Held held = {.count = 0};
    Py_ssize_t count, group_count;
    const int64_t *group, *first;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OO", &groups, &begins)) return NULL;
    if ((group = hold(&held, groups, INT64S, &count)) && (first = hold(&held, begins, INT64S, &group_count))) {
        int64_t *places = calloc((size_t)group_count + 1, sizeof *places);
        int is_valid = places != NULL;
        for (Py_ssize_t row = 0; is_valid && row < count; row++) {
            is_valid = group[row] >= 0 && group[row] < group_count;
            if (is_valid) places[group[row]]++;
        }
        for (Py_ssize_t at = 0, sum = 0; is_valid && at < group_count; sum += (Py_ssize_t)places[at++]) is_valid = first[at] == sum;
        result = is_valid ? PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(int64_t)) : NULL;
        if (result) {
            memcpy(places, first, (size_t)group_count * sizeof *places);
            order_by_group(group, count, places, (int64_t *)(void *)PyBytes_AsString(result));
        } else if (!is_valid && places) {
            PyErr_SetString(PyExc_ValueError, "the groups do not begin there");
        } else if (!places) {
            PyErr_NoMemory();
        }
        free(places);
    }
    release(&held);
    return result;
}

static PyMethodDef module_methods[] = {
    {"gather", module_gather, METH_O, "The texts of a column next to one another."},
    {"number", module_number, METH_VARARGS, "A number for each distinct id of a group."},
    {"hashes", module_hashes, METH_VARARGS, "The hash of each id."},
    {"order", module_order, METH_VARARGS, "The rows by group."},
    {"decimals", module_decimals, METH_O, "The values of numbers."},
    {"split", module_split, METH_VARARGS, "Find the columns of a regular text."},
    {"has_repeated", module_has_repeated, METH_VARARGS, "Whether an id appears twice in a group."},
    {"records", table_records, METH_VARARGS, "Read objects as columns; None if Python must."},
    {"delimited", table_delimited, METH_VARARGS, "Read delimited lines as columns; None if Python must."},
    {"mapping", table_mapping, METH_VARARGS, "Read queries with their documents; None if Python must."},
    {"join_dicts", join_dicts, METH_VARARGS, "The hits of dicts of scores; None if one is odd."},
    {"gather_dicts", gather_dicts, METH_O, "The entries of dicts as columns; None if one is odd."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot scanner_slots[] = {
    {Py_tp_new, (void *)scanner_new},
    {Py_tp_dealloc, (void *)scanner_dealloc},
    {Py_tp_methods, scanner_methods},
    {Py_tp_doc, (void *)"A run joined with judgments, block by block."},
    {0, NULL},
};

static PyType_Spec scanner_spec = {
    .name = "rankgauge.core.compiled._scanner.Scanner",
    .basicsize = sizeof(Scanner),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = scanner_slots,
};

static int module_exec(PyObject *module) {
    PyObject *type = PyType_FromSpec(&scanner_spec);
    int status = type ? PyModule_AddObjectRef(module, "Scanner", type) : -1;
    Py_XDECREF(type);
    return status < 0 ? status : PyModule_AddIntConstant(module, "INTERFACE", INTERFACE);
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, (void *)module_exec}, {0, NULL}};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_scanner",
    .m_doc = "The compiled scanner.",
    .m_methods = module_methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__scanner(void);
PyMODINIT_FUNC PyInit__scanner(void) { return PyModuleDef_Init(&module_definition); }
