/* A whole run at once, whose queries are not contiguous: rows are numbered by query, then joined query by query. */

#include <stdlib.h>

#include "scanner.h"

#define FIRST_ROOM 4096
#define ROWS_AHEAD 16 /* the row that is fetched while another one is copied */

/* One row: where its document and its score are, and its query. */
typedef struct {
    uint32_t doc, doc_length, score, score_length, query;
} ScatteredRow;

/* A query in the table: its length and first bytes, so that most are distinguished without a look at the text. */
typedef struct {
    uint64_t word;
    uint32_t length, number; /* number + 1 */
} KnownQuery;

typedef struct {
    ScatteredRow *rows;
    uint64_t count, room;
    KnownQuery *table; /* the queries by their hash */
    uint64_t mask;
} Scattered;

static int grow_scattered(Scattered *all) {
    uint64_t room = all->room ? 2 * all->room : FIRST_ROOM;
    if (room > 2 * (uint64_t)MAX_TEXT || !grow((void **)&all->rows, room, sizeof *all->rows)) return 0;
    all->room = room;
    return 1;
}

INLINE KnownQuery known_query(const byte *text, uint32_t length, uint32_t number) {
    KnownQuery known = {keep_bytes(load_word(text), length), length, number + 1};
    return known;
}

/* A table that is at most half full, with the queries so far. */
static int grow_query_table(Scattered *all, const Join *join, const Block *block) {
    uint64_t size = all->mask ? 2 * (all->mask + 1) : FIRST_ROOM;
    KnownQuery *table = calloc((size_t)size, sizeof *table);
    if (!table) return 0;
    for (uint32_t number = 0; number < block->query_count; number++) {
        const FoundQuery *query = block->queries + number;
        uint64_t at = id_hash(block->text + query->begin, (uint32_t)query->length, join->seed) & (size - 1);
        while (table[at].number) at = (at + 1) & (size - 1);
        table[at] = known_query(block->text + query->begin, (uint32_t)query->length, number);
    }
    free(all->table);
    all->table = table;
    all->mask = size - 1;
    return 1;
}

/* The number of a query in the order of first appearance; -1 if memory is short. */
static int64_t scattered_query(Scattered *all, const Join *join, Block *block, const RunLine *line) {
    if (2 * (uint64_t)block->query_count >= all->mask && !grow_query_table(all, join, block)) return -1;
    uint32_t length = line->query_end - line->query;
    const byte *text = block->text + line->query;
    uint64_t at = id_hash(text, length, join->seed) & all->mask, word = keep_bytes(load_word(text), length);
    for (; all->table[at].number; at = (at + 1) & all->mask) {
        const KnownQuery *known = all->table + at;
        if (known->length == length && known->word == word &&
            (length <= 8 || id_same(block->text + block->queries[known->number - 1].begin, text, length)))
            return known->number - 1;
    }
    FoundQuery *query = new_query(block);
    if (!query) return -1;
    FoundQuery fresh = {line->query, length, -1, 0, 0, (int64_t)all->count};
    *query = fresh;
    all->table[at] = known_query(text, length, block->query_count - 1);
    return block->query_count - 1;
}

/* A row of a query follows a row of another one. */
INLINE void note_resumed(FoundQuery *found, int64_t line) {
    if (found->rows && !found->resumed) found->resumed = line;
}

static BlockStatus collect_rows(Scattered *all, const Join *join, Block *block, Blanks *blanks) {
    Reading reading = {.blanks = blanks};
    Current query;
    int64_t number = -1;
    memset(&query, 0, sizeof query);
    for (int is_end = 0;;) {
        BlockStatus status = read_line(join, block, &reading, &is_end);
        if (status != BLOCK_OK) return status;
        if (is_end) break;
        const RunLine *line = &reading.line;
        if (number < 0 || !is_same_query(&query, block->text, line)) {
            begin_query(&query, block->text, line, 0);
            if (is_odd_id(join, blanks, line->query, line->query_end)) return BLOCK_ODD;
            if ((number = scattered_query(all, join, block, line)) < 0) return BLOCK_MEMORY;
            note_resumed(block->queries + number, (int64_t)reading.lines);
        }
        if (all->count == all->room && !grow_scattered(all)) return BLOCK_MEMORY;
        ScatteredRow row = {line->doc, line->doc_end - line->doc, line->score, line->score_end - line->score, (uint32_t)number};
        all->rows[all->count++] = row;
        block->queries[number].rows++;
    }
    block->tag = reading.line.tag;
    block->tag_length = reading.line.tag_end - reading.line.tag;
    block->used = block->size;
    block->lines = reading.lines;
    return BLOCK_OK;
}

/* Join the queries one by one; `order` has the rows by query, in the order of the file. */
static BlockStatus join_collected(const Scattered *all, const uint32_t *order, Join *join, Block *block) {
    const uint32_t *end = order + all->count;
    for (uint32_t number = 0; number < block->query_count; number++) {
        FoundQuery *found = block->queries + number;
        if (!join_grow_rows(join, (uint64_t)found->rows)) return BLOCK_MEMORY;
        for (int64_t at = 0; at < found->rows; at++) {
            const ScatteredRow *from = all->rows + *order++;
            if (end - order > ROWS_AHEAD) PREFETCH(all->rows + order[ROWS_AHEAD]);
            PREFETCH(block->text + from->doc);
            Row *row = join->rows + at;
            row->doc = from->doc, row->doc_length = from->doc_length;
            row->text.begin = from->score, row->text.length = from->score_length;
        }
        BlockStatus status = join_rows(join, block, found);
        if (status != BLOCK_OK) return status;
    }
    return BLOCK_OK;
}

static BlockStatus scan_scattered(Join *join, Block *block, Blanks *blanks) {
    Scattered all = {0};
    uint32_t *order = NULL, *next = NULL;
    BlockStatus status = collect_rows(&all, join, block, blanks);
    if (status == BLOCK_OK && block->query_count) {
        order = malloc((size_t)all.count * sizeof *order);
        next = malloc((size_t)block->query_count * sizeof *next);
        status = order && next ? BLOCK_OK : BLOCK_MEMORY;
    }
    if (status == BLOCK_OK && block->query_count) {
        uint32_t begin = 0;
        for (uint32_t number = 0; number < block->query_count; number++)
            next[number] = begin, begin += (uint32_t)block->queries[number].rows;
        for (uint32_t row = 0; row < all.count; row++) order[next[all.rows[row].query]++] = row;
        status = join_collected(&all, order, join, block);
    }
    free(all.rows);
    free(all.table);
    free(order);
    free(next);
    return status;
}

static BlockStatus scan_block(Join *join, Block *block) {
    uint64_t hits_before = join->hit_count;
    Blanks *blanks = malloc(sizeof *blanks);
    if (!blanks) return BLOCK_MEMORY;
    blanks_begin(blanks, block->text, block->size);
    BlockStatus status = block->is_scattered ? scan_scattered(join, block, blanks) : scan_lines(join, block, blanks);
    if (status != BLOCK_OK) join->hit_count = hits_before;
    free(blanks);
    return status;
}
