/* Rows that are columns already: joined query by query, and moved from one buffer to another. */

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
        while ((int64_t)join->row_room < end - begin)
            if (!join_grow_rows(join)) return JOIN_MEMORY;
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
