/* Rows that are columns already: joined query by query, and moved from one buffer to another. */

#include <stdlib.h>

#include "scanner.h"

/* Rows of whole queries: the documents, where the rows of each query begin, and its number among the judged ones. */
typedef struct {
    Column docs;
    const int64_t *offsets, *numbers;
    const double *scores;
    int64_t query_count;
} ColumnRows;

/* Join all queries. ODD: a document appears twice, and nothing is kept. */
static JoinStatus join_columns(Join *join, const ColumnRows *all) {
    uint64_t hits_before = join->hit_count;
    for (int64_t number = 0; number < all->query_count; number++) {
        int64_t begin = all->offsets[number], end = all->offsets[number + 1];
        if (!join_grow_rows(join, (uint64_t)(end - begin))) {
            join->hit_count = hits_before;
            return JOIN_MEMORY;
        }
        for (int64_t at = begin; at < end; at++) {
            Row *row = join->rows + (at - begin);
            row->doc = (uint32_t)all->docs.start[at];
            row->doc_length = (uint32_t)all->docs.length[at];
            row->score = all->scores[at];
        }
        QueryRows query = {.text = all->docs.text, .rows = join->rows, .count = (uint32_t)(end - begin)};
        query.query = all->numbers[number];
        note_order(join, &query);
        query.is_increasing = 0; /* ranks are the caller's business */
        JoinStatus status = query.count ? join_query(join, &query) : JOIN_OK;
        if (status != JOIN_OK) {
            join->hit_count = hits_before;
            return status;
        }
    }
    return JOIN_OK;
}

/* Copy ids next to one another. */
static void gather_ids(const Column *ids, byte *out) {
    for (int64_t row = 0; row < ids->count; row++) {
        const byte *text = ids->text + ids->start[row];
        int64_t length = ids->length[row];
        if (LIKELY(length <= 16)) /* both sides have padding */
            memcpy(out, text, 16);
        else
            memcpy(out, text, (size_t)length);
        out += length;
    }
}

/* The rows of each group one after another, in the order of rows: a counting sort. `begins` has the first place of each
   group, and is changed. */
static void order_by_group(const int64_t *group, int64_t count, int64_t *begins, int64_t *order) {
    for (int64_t row = 0; row < count; row++) order[begins[group[row]]++] = row;
}

/* A number for each distinct id of a group, in the order of first appearance; the number of distinct ones is returned.
   -1: memory is short. */
static int64_t number_ids(const Column *ids, const int64_t *group, uint64_t seed, int64_t *numbers) {
    uint64_t size = 1024, distinct = 0;
    uint32_t *table = calloc((size_t)size, sizeof *table), *first = NULL; /* number + 1; the first row of each number */
    uint64_t room = 0;
    int64_t row = 0;
    for (; table && row < ids->count; row++) {
        const byte *text = ids->text + ids->start[row];
        uint32_t length = (uint32_t)ids->length[row];
        if (row && group[row] == group[row - 1] && ids->length[row - 1] == length &&
            id_same(ids->text + ids->start[row - 1], text, length)) {
            numbers[row] = numbers[row - 1];
            continue;
        }
        uint64_t at = id_hash(text, length, fold(seed ^ (uint64_t)group[row], MIX)) & (size - 1);
        for (; table[at]; at = (at + 1) & (size - 1)) {
            int64_t other = first[table[at] - 1];
            if (group[other] == group[row] && ids->length[other] == length &&
                id_same(ids->text + ids->start[other], text, length))
                break;
        }
        if (!table[at]) {
            if (distinct == room) {
                room = room ? 2 * room : 1024;
                if (!grow((void **)&first, room, sizeof *first)) break;
            }
            first[distinct] = (uint32_t)row;
            table[at] = (uint32_t)++distinct;
        }
        numbers[row] = table[at] - 1;
        if (2 * distinct >= size) { /* a larger table */
            free(table);
            size *= 4;
            table = calloc((size_t)size, sizeof *table);
            for (uint64_t number = 0; table && number < distinct; number++) {
                uint32_t known = first[number];
                uint64_t place = id_hash(ids->text + ids->start[known], (uint32_t)ids->length[known],
                                         fold(seed ^ (uint64_t)group[known], MIX)) & (size - 1);
                while (table[place]) place = (place + 1) & (size - 1);
                table[place] = (uint32_t)number + 1;
            }
        }
    }
    int is_done = table != NULL && row == ids->count;
    free(table);
    free(first);
    return is_done ? (int64_t)distinct : -1;
}
