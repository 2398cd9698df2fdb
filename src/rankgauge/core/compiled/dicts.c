/* Dicts of scores by document: the ranks of the judged documents in each, without a Python object for any entry.

   Every entry is touched once, for its score and the type of its document; ids are compared only within ties that
   contain a judged document. A dict that holds anything but texts and numbers, or tied ids that have no UTF-8 text, is
   left to Python. The interpreter lock is held:
   these are Python's objects. Python code runs only while documents are looked up (a key may have its own __eq__) and
   while a list is made (garbage is collected), so that the dict and the document are held meanwhile, and nothing found
   before is used without a check. */

#include <stdlib.h>

#include "scanner.h"

#define AHEAD 12 /* objects whose memory is requested before they are used: they are anywhere */
#define FEW_HITS 4 /* their ranks are counted, instead of sorting all scores */

typedef enum { DICT_OK, DICT_ODD, DICT_MEMORY, DICT_RAISED } DictStatus;

typedef struct {
    const char *text;
    Py_ssize_t length;
} TiedId;

/* One hit: the key of its score, and its row among the judgments. */
typedef struct {
    uint64_t key;
    int64_t ordinal, rank, tie_first, tie_last;
} DictHit;

/* The entries of one dict. */
typedef struct {
    int in_doubles, is_strict;
    uint32_t count, room, hit_count, hit_room;
    uint64_t *keys;   /* of the scores, the highest first */
    PyObject **docs, **values;
    TiedId *tied;
    Keyed *sorted;    /* the keys, sorted, and as much room for sorting */
    DictHit *hits;
    Keyed *by_rank;   /* the hits, and as much room for sorting */
    int64_t *found;   /* all hits so far: query, rank, first and last rank of the tie, judgment */
    uint64_t found_count, found_room;
} DictRows;

static void dict_rows_free(DictRows *rows) {
    free(rows->keys);
    free(rows->docs);
    free(rows->values);
    free(rows->tied);
    free(rows->sorted);
    free(rows->hits);
    free(rows->by_rank);
    free(rows->found);
}

static int dict_rows_grow(DictRows *rows, uint64_t entries, uint64_t judged) {
    if (entries > rows->room) {
        if (!grow((void **)&rows->keys, entries, sizeof *rows->keys) ||
            !grow((void **)&rows->docs, entries, sizeof *rows->docs) ||
            !grow((void **)&rows->values, entries, sizeof *rows->values) ||
            !grow((void **)&rows->tied, entries, sizeof *rows->tied) ||
            !grow((void **)&rows->sorted, 2 * entries, sizeof *rows->sorted))
            return 0;
        rows->room = (uint32_t)entries;
    }
    if (judged > rows->hit_room) {
        if (!grow((void **)&rows->hits, judged, sizeof *rows->hits) ||
            !grow((void **)&rows->by_rank, 2 * judged, sizeof *rows->by_rank))
            return 0;
        rows->hit_room = (uint32_t)judged;
    }
    if (rows->found_count + judged > rows->found_room) {
        uint64_t room = 2 * (rows->found_count + judged);
        if (!grow((void **)&rows->found, room, 5 * sizeof *rows->found)) return 0;
        rows->found_room = room;
    }
    return 1;
}

/* Most documents are exactly texts, and finding that out calls nothing. */
INLINE int is_text(PyObject *doc) { return Py_IS_TYPE(doc, &PyUnicode_Type) || PyUnicode_Check(doc); }

/* The value of a number whose type cannot have a __float__ of its own, so that no Python code runs. */
INLINE int plain_number(PyObject *value, double *number) {
    if (!PyFloat_Check(value) && !PyLong_CheckExact(value) && !PyBool_Check(value)) return 0;
    *number = PyFloat_AsDouble(value);
    if (*number == -1.0 && PyErr_Occurred()) {
        PyErr_Clear(); /* too large: Python says so better */
        return 0;
    }
    return 1;
}

/* The key of a number that is not NaN. */
INLINE int dict_key(const DictRows *rows, PyObject *value, uint64_t *key) {
    double score;
    if (!plain_number(value, &score)) return 0;
    *key = ~(rows->in_doubles ? key_of_double(score) : key_of_float((float)score));
    return score == score;
}

static DictStatus find_judged(DictRows *rows, PyObject *row, PyObject *docs, int64_t begin, int64_t end) {
    rows->hit_count = 0;
    for (int64_t at = begin; at < end; at++) {
        PyObject *doc = PyList_GetItem(docs, (Py_ssize_t)at);
        if (!doc) return DICT_RAISED;
        if (at + AHEAD < end && at + AHEAD < PyList_Size(docs)) PREFETCH(PyList_GetItem(docs, (Py_ssize_t)at + AHEAD));
        DictHit *hit = rows->hits + rows->hit_count;
        hit->ordinal = at;
        Py_INCREF(doc);
        PyObject *value = PyDict_GetItemWithError(row, doc);
        int is_raised = !value && PyErr_Occurred(), is_number = value && dict_key(rows, value, &hit->key);
        Py_DECREF(doc); /* it may run Python code, too: the value is not used behind it */
        if (is_raised) return DICT_RAISED;
        if (!value) continue;
        if (!is_number) return DICT_ODD;
        rows->hit_count++;
    }
    return DICT_OK;
}

static DictStatus walk_dict(DictRows *rows, PyObject *row) {
    PyObject *doc, *value;
    Py_ssize_t position = 0;
    uint64_t last = 0;
    rows->count = 0;
    rows->is_strict = 1;
    while (PyDict_Next(row, &position, &doc, &value)) {
        if (rows->count == rows->room) return DICT_ODD;
        rows->docs[rows->count] = doc;
        rows->values[rows->count++] = value;
    }
    for (uint32_t at = 0; at < rows->count; at++) {
        if (at + AHEAD < rows->count) {
            PREFETCH(rows->values[at + AHEAD]);
            PREFETCH(rows->docs[at + AHEAD]);
        }
        if (!is_text(rows->docs[at]) || !dict_key(rows, rows->values[at], rows->keys + at)) return DICT_ODD;
        rows->is_strict &= !at || rows->keys[at] > last;
        last = rows->keys[at];
    }
    return DICT_OK;
}

/* The number of entries that come before a key. */
static uint32_t entries_before(const DictRows *rows, uint64_t key) {
    uint32_t low = 0, high = rows->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((rows->is_strict ? rows->keys[middle] : rows->sorted[middle].key) < key) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void find_tie(const DictRows *rows, DictHit *hit) {
    uint32_t before = 0, equal = 0;
    if (!rows->is_strict && rows->hit_count <= FEW_HITS) {
        for (uint32_t at = 0; at < rows->count; at++) before += rows->keys[at] < hit->key, equal += rows->keys[at] == hit->key;
    } else {
        before = entries_before(rows, hit->key);
        if (rows->is_strict) equal = before < rows->count && rows->keys[before] == hit->key;
        else while (before + equal < rows->count && rows->sorted[before + equal].key == hit->key) equal++;
    }
    hit->rank = hit->tie_first = (int64_t)before + 1;
    hit->tie_last = (int64_t)before + equal;
}

static int tied_id(PyObject *doc, TiedId *id) {
    if (!PyUnicode_Check(doc)) return 0;
    id->text = PyUnicode_AsUTF8AndSize(doc, &id->length);
    if (!id->text) PyErr_Clear(); /* a surrogate */
    return id->text && id->length && !memchr(id->text, 0, (size_t)id->length);
}

static int compare_tied(const void *one, const void *other) {
    const TiedId *left = one, *right = other;
    size_t shared = (size_t)(left->length < right->length ? left->length : right->length);
    int order = memcmp(left->text, right->text, shared);
    return tie_order(order ? order : (left->length > right->length) - (left->length < right->length));
}

/* Correct the ranks of the hits of one tie: `count` of them, at these places of by_rank. */
static DictStatus rank_tie(DictRows *rows, PyObject *docs, const Keyed *places, uint32_t count) {
    const DictHit *first = rows->hits + places->row;
    uint32_t size = (uint32_t)(first->tie_last - first->tie_first + 1), found = 0;
    if (rows->hit_count <= FEW_HITS) {
        for (uint32_t row = 0; row < rows->count; row++)
            if (rows->keys[row] == first->key && !tied_id(rows->docs[row], rows->tied + found++)) return DICT_ODD;
    } else {
        for (; found < size; found++)
            if (!tied_id(rows->docs[rows->sorted[first->tie_first - 1 + found].row], rows->tied + found)) return DICT_ODD;
    }
    qsort(rows->tied, size, sizeof *rows->tied, compare_tied);
    for (uint32_t at = 0; at < count; at++) {
        DictHit *hit = rows->hits + places[at].row;
        PyObject *doc = PyList_GetItem(docs, (Py_ssize_t)hit->ordinal);
        TiedId own;
        if (!doc) return DICT_RAISED;
        if (!tied_id(doc, &own)) return DICT_ODD;
        const TiedId *place = bsearch(&own, rows->tied, size, sizeof own, compare_tied);
        if (!place) return DICT_ODD;
        hit->rank = hit->tie_first + (place - rows->tied);
    }
    return DICT_OK;
}

static void sort_by_rank(DictRows *rows) {
    for (uint32_t hit = 0; hit < rows->hit_count; hit++)
        rows->by_rank[hit].key = (uint64_t)rows->hits[hit].rank, rows->by_rank[hit].row = hit;
    sort_keyed(rows->by_rank, rows->by_rank + rows->hit_count, rows->hit_count);
}

static DictStatus rank_hits_of_dict(DictRows *rows, PyObject *docs) {
    if (!rows->is_strict && rows->hit_count > FEW_HITS) {
        for (uint32_t row = 0; row < rows->count; row++) rows->sorted[row].key = rows->keys[row], rows->sorted[row].row = row;
        sort_keyed(rows->sorted, rows->sorted + rows->count, rows->count);
    }
    for (uint32_t hit = 0; hit < rows->hit_count; hit++) {
        find_tie(rows, rows->hits + hit);
        if (rows->hits[hit].tie_last < rows->hits[hit].tie_first) return DICT_ODD; /* the dict has changed */
    }
    sort_by_rank(rows);
    int is_tied = 0;
    for (uint32_t at = 0; !rows->is_strict && at < rows->hit_count;) {
        const DictHit *first = rows->hits + rows->by_rank[at].row;
        uint32_t next = at + 1;
        while (next < rows->hit_count && rows->hits[rows->by_rank[next].row].tie_first == first->tie_first) next++;
        if (first->tie_last > first->tie_first) {
            DictStatus status = rank_tie(rows, docs, rows->by_rank + at, next - at);
            if (status != DICT_OK) return status;
            is_tied = 1;
        }
        at = next;
    }
    if (is_tied) sort_by_rank(rows);
    return DICT_OK;
}

static DictStatus join_dict(DictRows *rows, PyObject *row, PyObject *docs, int64_t query, const int64_t *offsets) {
    Py_ssize_t size = PyDict_Size(row);
    int64_t begin = offsets[query], end = offsets[query + 1];
    if (size < 0) return DICT_RAISED;
    if (begin < 0 || end < begin) return DICT_ODD; /* they have changed */
    if ((uint64_t)size >= MAX_TEXT || (uint64_t)(end - begin) >= MAX_TEXT) return DICT_ODD;
    if (!dict_rows_grow(rows, (uint64_t)size, (uint64_t)(end - begin))) return DICT_MEMORY;
    DictStatus status = find_judged(rows, row, docs, begin, end);
    if (status == DICT_OK) status = walk_dict(rows, row);
    if (status == DICT_OK) status = rank_hits_of_dict(rows, docs);
    if (status != DICT_OK) return status;
    for (uint32_t at = 0; at < rows->hit_count; at++) {
        const DictHit *hit = rows->hits + rows->by_rank[at].row;
        int64_t cells[5] = {query, hit->rank, hit->tie_first, hit->tie_last, hit->ordinal};
        memcpy(rows->found + 5 * rows->found_count++, cells, sizeof cells);
    }
    return DICT_OK;
}

/* join_dicts(rows, docs, offsets, in_doubles): a list with a dict or None per judged query, the judged documents, and
   where those of each query begin. All hits by query and rank, five int64 each, or None. */
static PyObject *join_dicts(PyObject *module, PyObject *arguments) {
    PyObject *dicts, *docs, *object, *result = NULL;
    int in_doubles;
    Held held = {.count = 0};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!O!Op", &PyList_Type, &dicts, &PyList_Type, &docs, &object, &in_doubles)) return NULL;
    Py_ssize_t queries = PyList_Size(dicts);
    const int64_t *offsets = hold_offsets(&held, object, queries, PyList_Size(docs));
    if (!offsets) {
        release(&held);
        return NULL;
    }
    DictRows rows = {.in_doubles = in_doubles};
    DictStatus status = DICT_OK;
    for (Py_ssize_t query = 0; status == DICT_OK && query < queries; query++) {
        PyObject *row = PyList_GetItem(dicts, query);
        if (row == Py_None) continue;
        if (!row || !PyDict_CheckExact(row)) {
            status = row ? DICT_ODD : DICT_RAISED;
            break;
        }
        Py_INCREF(row);
        status = join_dict(&rows, row, docs, (int64_t)query, offsets);
        Py_DECREF(row);
    }
    if (status == DICT_OK)
        result = PyBytes_FromStringAndSize((const char *)rows.found, (Py_ssize_t)(5 * rows.found_count * sizeof *rows.found));
    else if (status == DICT_ODD)
        result = Py_NewRef(Py_None);
    else if (status == DICT_MEMORY)
        PyErr_NoMemory();
    dict_rows_free(&rows);
    release(&held);
    return result;
}

/* The entries of several dicts, one after the other. No Python code runs from the first of them on. */
typedef struct {
    Py_ssize_t count;
    PyObject *docs;                   /* a list */
    PyObject *lengths, *numbers;      /* bytes: int64 and double per entry */
    PyObject **values;
    char *text;                       /* the documents as UTF-8 */
    uint64_t size, room;
} Gathered;

static void gathered_free(Gathered *gathered) {
    Py_XDECREF(gathered->docs);
    Py_XDECREF(gathered->lengths);
    Py_XDECREF(gathered->numbers);
    free(gathered->values);
    free(gathered->text);
}

static DictStatus gather_entries(Gathered *gathered, PyObject *dicts) {
    Py_ssize_t rows = PyList_Size(dicts), count = 0;
    for (Py_ssize_t row = 0; row < rows; row++) {
        PyObject *dict = PyList_GetItem(dicts, row);
        if (!PyDict_CheckExact(dict)) return DICT_ODD;
        gathered->count += PyDict_Size(dict);
    }
    size_t bytes = (size_t)gathered->count * sizeof(double);
    gathered->docs = PyList_New(gathered->count);
    gathered->lengths = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
    gathered->numbers = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
    gathered->values = malloc(bytes + sizeof *gathered->values);
    gathered->room = 16 * (uint64_t)gathered->count + PADDING;
    gathered->text = malloc((size_t)gathered->room);
    if (!gathered->docs || !gathered->lengths || !gathered->numbers) return DICT_RAISED;
    if (!gathered->values || !gathered->text) return DICT_MEMORY;
    for (Py_ssize_t row = 0; row < rows; row++) {
        PyObject *doc, *value;
        Py_ssize_t position = 0;
        PyObject *dict = PyList_GetItem(dicts, row);
        if (!dict) return DICT_RAISED; /* making a list may have run the garbage collector, and so Python code */
        while (PyDict_Next(dict, &position, &doc, &value)) {
            if (count == gathered->count) return DICT_ODD;
            gathered->values[count] = value;
            if (PyList_SetItem(gathered->docs, count++, Py_NewRef(doc)) < 0) return DICT_RAISED;
        }
    }
    return count == gathered->count ? DICT_OK : DICT_ODD;
}

static DictStatus gather_texts(Gathered *gathered) {
    char *length_cells = PyBytes_AsString(gathered->lengths), *number_cells = PyBytes_AsString(gathered->numbers);
    for (Py_ssize_t at = 0; at < gathered->count; at++) {
        TiedId id;
        double number;
        if (at + AHEAD < gathered->count) PREFETCH(PyList_GetItem(gathered->docs, at + AHEAD));
        if (!tied_id(PyList_GetItem(gathered->docs, at), &id) || !plain_number(gathered->values[at], &number)) return DICT_ODD;
        uint64_t length = (uint64_t)id.length;
        if (gathered->size + length + PADDING > gathered->room) {
            gathered->room = 2 * (gathered->size + length + PADDING);
            if (!grow((void **)&gathered->text, gathered->room, 1)) return DICT_MEMORY;
        }
        memcpy(gathered->text + gathered->size, id.text, (size_t)length);
        gathered->size += length;
        memcpy(length_cells + (size_t)at * sizeof length, &length, sizeof length);
        memcpy(number_cells + (size_t)at * sizeof number, &number, sizeof number);
    }
    memset(gathered->text + gathered->size, 0, PADDING);
    return DICT_OK;
}

/* gather_dicts(rows): of a list of dicts, all documents as a list, as one padded text and their lengths, and all
   numbers; None if a document is not a text, or a number not a plain one. */
static PyObject *gather_dicts(PyObject *module, PyObject *dicts) {
    Gathered gathered = {.count = 0};
    PyObject *text = NULL, *result = NULL;
    (void)module;
    if (!PyList_Check(dicts)) return PyErr_Format(PyExc_TypeError, "a list is expected");
    DictStatus status = gather_entries(&gathered, dicts);
    if (status == DICT_OK) status = gather_texts(&gathered);
    if (status == DICT_OK) {
        text = PyBytes_FromStringAndSize(gathered.text, (Py_ssize_t)(gathered.size + PADDING));
        if (text) result = PyTuple_Pack(4, gathered.docs, text, gathered.lengths, gathered.numbers);
        Py_XDECREF(text);
    } else if (status == DICT_ODD) {
        result = Py_NewRef(Py_None);
    } else if (status == DICT_MEMORY) {
        PyErr_NoMemory();
    }
    gathered_free(&gathered);
    return result;
}
