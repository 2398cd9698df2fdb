/* The rows of one query: documents that appear twice, ranks, and the judged documents among them.

   Judged documents and rows share one table, which is filled anew for each query: a row that meets a judged document is
   a hit, one that meets another row is a duplicate. Rows whose scores strictly decrease need no sorting; otherwise they
   are sorted by score, and ids are compared only within ties that contain a hit. Whatever would have to be reported
   makes the query odd; the caller then leaves the block to the scanner in Python, which knows the words. */

#include <math.h>
#include <stdlib.h>

#include "scanner.h"

#define COUNTED_PAIRS 32 /* ids of a tie compared pair by pair rather than sorted */

/* At most a quarter is filled: most rows meet nothing. */
INLINE uint64_t table_size(uint64_t entries) {
    uint64_t size = 64;
    while (size < 4 * entries) size *= 2;
    return size;
}

static int grow(void **list, uint64_t count, size_t item) {
    if (count > SIZE_MAX / item / 2) return 0;
    void *larger = realloc(*list, (size_t)count * item);
    if (!larger) return 0;
    *list = larger;
    return 1;
}

static int join_prepare(Join *join) {
    uint64_t size = table_size((uint64_t)join->queries.count);
    join->query_table = calloc((size_t)size, sizeof *join->query_table);
    if (!join->query_table) return 0;
    join->query_mask = size - 1;
    for (int64_t number = 0; number < join->queries.count; number++) {
        const byte *text = join->queries.text + join->queries.start[number];
        uint64_t at = id_hash(text, (uint32_t)join->queries.length[number], join->seed) & join->query_mask;
        while (join->query_table[at]) at = (at + 1) & join->query_mask;
        join->query_table[at] = (uint32_t)number + 1;
    }
    return 1;
}

static void join_free(Join *join) {
    free(join->query_table);
    free(join->rows);
    free(join->table);
    free(join->keyed);
    free(join->hits);
}

static int64_t join_query_number(const Join *join, const byte *text, uint32_t length) {
    uint64_t at = id_hash(text, length, join->seed) & join->query_mask;
    for (; join->query_table[at]; at = (at + 1) & join->query_mask) {
        int64_t number = join->query_table[at] - 1;
        if (join->queries.length[number] == length && id_same(join->queries.text + join->queries.start[number], text, length))
            return number;
    }
    return -1;
}

/* Room for this many rows. */
static int join_grow_rows(Join *join, uint64_t rows) {
    uint64_t room = join->row_room ? join->row_room : 4096;
    if (rows <= join->row_room) return 1;
    while (room < rows) room *= 2;
    if (room > MAX_TEXT || !grow((void **)&join->rows, room, sizeof *join->rows)) return 0;
    join->row_room = (uint32_t)room;
    return 1;
}

static int make_room(Join *join, uint64_t entries, uint32_t rows, uint64_t hits) {
    uint64_t size = table_size(entries);
    if (size > join->table_room) {
        if (!grow((void **)&join->table, size, sizeof *join->table)) return 0;
        join->table_room = size;
    }
    if (rows > join->keyed_room) {
        uint64_t room = join->keyed_room;
        while (room < rows) room = room ? 2 * room : 1024;
        if (!grow((void **)&join->keyed, 3 * room, sizeof *join->keyed)) return 0;
        join->keyed_room = (uint32_t)room;
    }
    if (join->hit_count + hits > join->hit_room) {
        uint64_t room = join->hit_room ? join->hit_room : 1024;
        while (room < join->hit_count + hits) room *= 2;
        if (!grow((void **)&join->hits, room, sizeof *join->hits)) return 0;
        join->hit_room = room;
    }
    return 1;
}

/* How an entry is made of the high bits of a hash and an index + 1, which needs the low bits. */
typedef struct {
    uint64_t mask;     /* of a place in the table */
    uint32_t index;    /* the bits of the index */
    uint32_t judged;   /* rows come after the judged documents */
} Entries;

static Entries entries_for(uint64_t rows, uint32_t judged) {
    Entries entries = {table_size(rows + judged) - 1, 1, judged};
    while (entries.index < rows + judged) entries.index = 2 * entries.index + 1;
    return entries;
}

INLINE uint32_t tag_of(const Entries *entries, uint64_t hash) { return (uint32_t)(hash >> 32) & ~entries->index; }

/* Enter the judged documents of a query: each by its number among them. */
static void enter_judged(Join *join, const Entries *entries, int64_t first) {
    for (uint32_t number = 0; number < entries->judged; number++) {
        int64_t ordinal = first + number;
        const byte *text = join->docs.text + join->docs.start[ordinal];
        uint64_t hash = id_hash(text, (uint32_t)join->docs.length[ordinal], join->seed), at = hash & entries->mask;
        while (join->table[at]) at = (at + 1) & entries->mask;
        join->table[at] = tag_of(entries, hash) | (number + 1);
    }
}

INLINE int is_judged(const Join *join, int64_t ordinal, const byte *text, const Row *row) {
    return join->docs.length[ordinal] == row->doc_length &&
           id_same(join->docs.text + join->docs.start[ordinal], text + row->doc, row->doc_length);
}

INLINE int is_same_doc(const byte *text, const Row *one, const Row *other) {
    return one->doc_length == other->doc_length && id_same(text + one->doc, text + other->doc, one->doc_length);
}

/* Look up each row; a hit gets its row as rank for now. ODD: a document appears twice. */
static JoinStatus match_rows(Join *join, const QueryRows *query, int64_t first, uint32_t judged, uint32_t *found) {
    const Entries entries = entries_for(query->count, judged);
    uint32_t *table = join->table, hit_count = 0;
    memset(table, 0, (size_t)(entries.mask + 1) * sizeof *table);
    enter_judged(join, &entries, first);
    Hit *hits = join->hits + join->hit_count;
    for (uint32_t row = 0; row < query->count; row++) {
        const Row *here = query->rows + row;
        uint64_t hash = id_hash(query->text + here->doc, here->doc_length, join->seed), at = hash & entries.mask;
        uint32_t tag = tag_of(&entries, hash), entry;
        for (; (entry = table[at]) != 0; at = (at + 1) & entries.mask) {
            if ((entry ^ tag) & ~entries.index) continue;
            uint32_t index = (entry & entries.index) - 1;
            if (index >= judged) {
                if (is_same_doc(query->text, query->rows + (index - judged), here)) return JOIN_ODD;
            } else if (is_judged(join, first + index, query->text, here)) {
                Hit hit = {query->query, row, 0, 0, first + index};
                hits[hit_count++] = hit;
                break;
            }
        }
        table[at] = tag | (judged + row + 1);
    }
    *found = hit_count;
    return JOIN_OK;
}

INLINE uint64_t score_key(const Join *join, double score) {
    return ~(join->in_doubles ? key_of_double(score) : key_of_float((float)score)); /* the highest first */
}

static int order_in_tie(const Row *one, const Row *other, const byte *text) {
    return tie_order(id_order(text + one->doc, one->doc_length, text + other->doc, other->doc_length));
}

/* Merge sort of the rows of one tie: it needs n log n comparisons whatever the ids are. */
static void sort_tie(const QueryRows *query, Keyed *items, Keyed *spare, uint32_t count) {
    Keyed *from = items, *to = spare;
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t begin = 0; begin < count; begin += 2 * width) {
            uint32_t middle = begin + width < count ? begin + width : count;
            uint32_t end = middle + width < count ? middle + width : count, left = begin, right = middle;
            for (uint32_t at = begin; at < end; at++) {
                int is_left = left < middle && (right >= end || order_in_tie(query->rows + from[left].row,
                                                                             query->rows + from[right].row, query->text) <= 0);
                to[at] = is_left ? from[left++] : from[right++];
            }
        }
        Keyed *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != items) memcpy(items, from, count * sizeof *items);
}

/* Ranks of the hits of a query whose scores do not strictly decrease. */
static void rank_hits(Join *join, const QueryRows *query, uint32_t hit_count) {
    Keyed *items = join->keyed, *spare = items + join->keyed_room, *order = spare + join->keyed_room;
    Hit *hits = join->hits + join->hit_count;
    int is_sorted = 1;
    for (uint32_t row = 0; row < query->count; row++) {
        items[row].key = score_key(join, query->rows[row].score);
        items[row].row = row;
        is_sorted &= !row || items[row - 1].key <= items[row].key;
    }
    if (!is_sorted) sort_keyed(items, spare, query->count);
    /* Hits in the order of the sorted rows: the place of each row is the key of its hit. */
    if (!is_sorted) {
        for (uint32_t place = 0; place < query->count; place++) spare[items[place].row].key = place;
        for (uint32_t hit = 0; hit < hit_count; hit++) order[hit].key = spare[hits[hit].rank].key, order[hit].row = hit;
        sort_keyed(order, spare, hit_count);
    } else {
        for (uint32_t hit = 0; hit < hit_count; hit++) order[hit].key = (uint64_t)hits[hit].rank, order[hit].row = hit;
    }
    for (uint32_t hit = 0; hit < hit_count;) {
        uint32_t begin = (uint32_t)order[hit].key, end = begin + 1;
        while (begin && items[begin - 1].key == items[begin].key) begin--;
        while (end < query->count && items[end].key == items[begin].key) end++;
        uint32_t next = hit;
        while (next < hit_count && order[next].key < end) next++;
        if (end - begin > 1 && (uint64_t)(end - begin) * (next - hit) > COUNTED_PAIRS) {
            sort_tie(query, items + begin, spare, end - begin);
            for (uint32_t place = begin; place < end; place++) spare[items[place].row].key = place;
            for (uint32_t at = hit; at < next; at++) {
                Hit *one = hits + order[at].row;
                one->rank = (int64_t)spare[one->rank].key + 1;
                one->tie_first = begin + 1, one->tie_last = end;
            }
        } else {
            for (uint32_t at = hit; at < next; at++) {
                Hit *one = hits + order[at].row;
                const Row *own = query->rows + one->rank;
                int64_t rank = begin + 1;
                if (end - begin > 1)
                    for (uint32_t place = begin; place < end; place++)
                        rank += order_in_tie(query->rows + items[place].row, own, query->text) < 0;
                one->rank = rank;
                one->tie_first = begin + 1, one->tie_last = end;
            }
        }
        hit = next;
    }
    /* By rank. */
    for (uint32_t hit = 0; hit < hit_count; hit++) items[hit].key = (uint64_t)hits[hit].rank, items[hit].row = hit;
    is_sorted = 1;
    for (uint32_t hit = 1; hit < hit_count; hit++) is_sorted &= items[hit - 1].key < items[hit].key;
    if (is_sorted) return;
    sort_keyed(items, spare, hit_count);
    Hit *sorted = join->hits + join->hit_count + hit_count; /* there is room for twice the hits */
    for (uint32_t hit = 0; hit < hit_count; hit++) sorted[hit] = hits[items[hit].row];
    memcpy(hits, sorted, hit_count * sizeof *hits);
}

/* Whether two rows that are neighbors by rank have scores that say otherwise, or a rank is too unusual to be read here.
   The rank follows the document; a text that is not a whole number is not a rank. */
static int has_contradiction(Join *join, const QueryRows *query) {
    Keyed *items = join->keyed, *spare = items + join->keyed_room;
    uint32_t count = 0;
    for (uint32_t row = 0; row < query->count; row++) {
        uint32_t length;
        const byte *text = next_column(query->text + query->rows[row].doc + query->rows[row].doc_length, &length);
        double rank = 0.0;
        DecimalStatus status = decimal_value(decimal_read(text, length), &rank);
        if (status == DECIMAL_HARD || (status == DECIMAL_BAD && decimal_is_infinite(text, length))) return 1;
        if (status == DECIMAL_BAD || floor(rank) != rank) continue;
        items[count].key = key_of_double(rank);
        items[count++].row = row;
    }
    sort_keyed(items, spare, count);
    for (uint32_t at = 1; at < count; at++)
        if (items[at].key > items[at - 1].key &&
            (float)query->rows[items[at].row].score > (float)query->rows[items[at - 1].row].score)
            return 1;
    return 0;
}

static JoinStatus join_query(Join *join, const QueryRows *query) {
    int64_t first = 0;
    uint32_t judged = 0, hit_count = 0;
    if (query->query >= 0) {
        first = join->offsets[query->query];
        judged = (uint32_t)(join->offsets[query->query + 1] - first);
    }
    uint64_t most = judged < query->count ? judged : query->count;
    if (!make_room(join, (uint64_t)query->count + judged, query->count, 2 * most)) return JOIN_MEMORY;
    if (match_rows(join, query, first, judged, &hit_count) != JOIN_OK) return JOIN_ODD;
    if ((query->is_increasing || query->has_decreasing_ranks) && has_contradiction(join, query)) return JOIN_ODD;
    if (query->is_strict) {
        Hit *hits = join->hits + join->hit_count;
        for (uint32_t hit = 0; hit < hit_count; hit++) hits[hit].rank++, hits[hit].tie_first = hits[hit].tie_last = hits[hit].rank;
    } else if (hit_count) {
        rank_hits(join, query, hit_count);
    }
    join->hit_count += hit_count;
    return JOIN_OK;
}
