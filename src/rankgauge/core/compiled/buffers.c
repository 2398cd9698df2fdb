/* Buffers of Python objects: their type, size and alignment are checked, and they are released together. */

#include "scanner.h"

#define VIEWS 7

typedef struct {
    Py_buffer views[VIEWS];
    int count;
} Held;

typedef enum { BYTES, INT64S, UINT32S, DOUBLES } Items;

static void release(Held *held) {
    for (int view = 0; view < held->count; view++) PyBuffer_Release(&held->views[view]);
    held->count = 0;
}

static const Py_ssize_t ITEM_SIZES[] = {1, sizeof(int64_t), sizeof(uint32_t), sizeof(double)};

/* Whether a buffer has items of this type. Any memory can be read as bytes, and bytes as items; written are only items. */
static int has_items(const Py_buffer *view, Items items, int is_writable) {
    static const char *const formats[] = {"Bb", "lq", "IL", "d"};
    const char *format = view->format ? view->format : "B";
    Py_ssize_t size = ITEM_SIZES[items];
    if (view->len % size || (uintptr_t)view->buf % (uintptr_t)size) return 0;
    if (!is_writable && (items == BYTES || !strcmp(format, "B"))) return 1;
    return view->itemsize == size && format[0] && !format[1] && strchr(formats[items], format[0]);
}

static void *hold_view(Held *held, PyObject *object, Items items, int is_writable, Py_ssize_t *count) {
    static int64_t nothing;
    Py_buffer *view = &held->views[held->count];
    if (PyObject_GetBuffer(object, view, PyBUF_FORMAT | (is_writable ? PyBUF_CONTIG : PyBUF_CONTIG_RO)) < 0) return NULL;
    held->count++;
    if (!has_items(view, items, is_writable)) {
        PyErr_SetString(PyExc_ValueError, "a contiguous, aligned array of another type is expected");
        return NULL;
    }
    *count = view->len / ITEM_SIZES[items];
    return view->len ? view->buf : &nothing;
}

/* Hold a contiguous buffer. */
static const void *hold(Held *held, PyObject *object, Items items, Py_ssize_t *count) {
    return hold_view(held, object, items, 0, count);
}

/* Hold a buffer that is filled in. */
static void *hold_writable(Held *held, PyObject *object, Items items, Py_ssize_t *count) {
    return hold_view(held, object, items, 1, count);
}

/* Whether two buffers share memory: a text must not change while it is read. */
static int has_overlap(const Held *held) {
    for (int one = 0; one < held->count; one++)
        for (int other = 0; other < one; other++) {
            const Py_buffer *left = &held->views[one], *right = &held->views[other];
            uintptr_t begin = (uintptr_t)left->buf, other_begin = (uintptr_t)right->buf;
            if (left->len && right->len && begin < other_begin + (size_t)right->len &&
                other_begin < begin + (size_t)left->len)
                return 1;
        }
    return 0;
}

/* A column of ids: its text, starts and lengths. Every id and the padding behind it must be inside the text. */
static int hold_column(Held *held, PyObject *parts, Column *column) {
    PyObject *objects[3];
    Py_ssize_t size, starts, lengths;
    if (!PyTuple_Check(parts)) {
        PyErr_SetString(PyExc_TypeError, "a column is a tuple of text, starts and lengths");
        return 0;
    }
    if (!PyArg_ParseTuple(parts, "OOO", &objects[0], &objects[1], &objects[2])) return 0;
    if (!(column->text = hold(held, objects[0], BYTES, &size)) || !(column->start = hold(held, objects[1], INT64S, &starts)) ||
        !(column->length = hold(held, objects[2], INT64S, &lengths)))
        return 0;
    column->count = starts;
    int is_valid = starts == lengths && starts < (Py_ssize_t)MAX_TEXT;
    for (int64_t row = 0; is_valid && row < column->count; row++) {
        int64_t start = column->start[row], length = column->length[row];
        is_valid = start >= 0 && length >= 0 && length < (int64_t)MAX_TEXT && start <= size &&
                   length + PADDING <= size - start;
    }
    if (!is_valid) PyErr_SetString(PyExc_ValueError, "ids are outside their buffer");
    return is_valid;
}

/* Offsets of some rows among others: they ascend from 0 to at most `most`. */
static const int64_t *hold_offsets(Held *held, PyObject *object, Py_ssize_t rows, Py_ssize_t most) {
    Py_ssize_t count;
    const int64_t *offsets = hold(held, object, INT64S, &count);
    if (!offsets) return NULL;
    int is_valid = count == rows + 1 && offsets[0] == 0 && offsets[rows] <= most;
    for (Py_ssize_t at = 0; is_valid && at < rows; at++) is_valid = offsets[at] <= offsets[at + 1];
    if (!is_valid) PyErr_SetString(PyExc_ValueError, "offsets do not fit the ids");
    return is_valid ? offsets : NULL;
}
