/* A block of a run: lines are split, scores read, and the rows of each complete query joined with the judgments.

   If anything about a line is wrong or worth a word, the block is odd and nothing of it is kept. */

#include <stdlib.h>

#include "scanner.h"

#define DENSE_RANKS 10 /* the sampled ranks: the first ones of a query, then every fiftieth (io/checks/ranks.py) */
#define SPARSE_RANKS 50

/* What is used of a line. */
typedef struct {
    uint32_t query, query_end, doc, doc_end, rank, score, score_end, tag, tag_end;
} RunLine;

/* The usual line: six columns with one and the same blank between them and a newline behind the last. */
INLINE int usual_line(Blanks *blanks, uint32_t begin, RunLine *line) {
    if (!LIKELY(blanks_ahead(blanks, RUN_COLUMNS) >= RUN_COLUMNS && !blanks->has_runs)) return 0;
    const uint32_t *ends = blanks->positions + blanks->next;
    const byte *text = blanks->text;
    if (!LIKELY(ends[5] < blanks->size && text[ends[5]] == '\n')) return 0;
    byte blank = text[ends[0]];
    uint32_t other = (uint32_t)(text[ends[1]] ^ blank) | (uint32_t)(text[ends[2]] ^ blank) |
                     (uint32_t)(text[ends[3]] ^ blank) | (uint32_t)(text[ends[4]] ^ blank);
    if (!LIKELY(other == 0 && blank != '\n')) return 0;
    RunLine found = {begin, ends[0], ends[1] + 1, ends[2], ends[2] + 1, ends[3] + 1, ends[4], ends[4] + 1, ends[5]};
    *line = found;
    blanks->next += RUN_COLUMNS;
    return 1;
}

/* Any other line; 0 at the end of the text, and `count` is its number of columns. */
NOINLINE static int unusual_line(Blanks *blanks, uint32_t *at, RunLine *line, uint64_t *lines, uint32_t *count) {
    Line columns;
    if (!next_line(blanks, at, RUN_COLUMNS, &columns, lines)) return 0;
    *count = columns.count;
    if (columns.count < RUN_COLUMNS) return 1;
    RunLine found = {columns.begin[0], columns.end[0],   columns.begin[2], columns.end[2], columns.begin[3],
                     columns.begin[4], columns.end[4], columns.begin[5], columns.end[5]};
    *line = found;
    return 1;
}

/* A key in the order of whole numbers without leading zeros, as in io/checks/ranks.py. */
INLINE uint64_t rank_key(const byte *text, uint32_t length) {
    uint64_t word = swap_bytes(keep_bytes(load_word(text), length));
    return length >= 8 ? word : word >> (8 * (8 - length));
}

/* The query whose lines are being read: its id, and the sampled ranks. */
typedef struct {
    uint32_t begin, length, count; /* of its id, and the number of its rows so far */
    uint64_t word, mask;           /* the first bytes of its id, and which of eight they are */
    uint64_t lines_before;
    uint64_t last_rank;
    uint32_t next_sample;
    int has_decreasing_ranks;
} Current;

/* The scores of the rows, and the hashes of their documents. */
static BlockStatus read_rows(const Join *join, const Block *block, Row *rows, uint32_t count) {
    for (uint32_t at = 0; at < count; at++) {
        Row *row = rows + at;
        const byte *text = block->text + row->score_begin;
        DecimalStatus status = decimal_read(text, row->score_length, &row->score);
        row->hash = id_hash(block->text + row->doc, row->doc_length, join->seed);
        if (LIKELY(status == DECIMAL_OK)) continue;
        if (status == DECIMAL_BAD) return BLOCK_ODD;
        if (!block->hard(block->context, text, row->score_length, &row->score)) return BLOCK_RAISED;
        if (!(row->score - row->score == 0.0)) return BLOCK_ODD; /* infinite */
    }
    return BLOCK_OK;
}

static void note_order(const Join *join, QueryRows *query) {
    const Row *rows = query->rows;
    int is_increasing = 0, is_strict = 1;
    for (uint32_t at = 1; at < query->count; at++) {
        double before = rows[at - 1].score, here = rows[at].score;
        is_increasing |= here > before;
        is_strict &= join->in_doubles ? before > here : (float)before > (float)here;
    }
    query->is_increasing = is_increasing;
    query->is_strict = is_strict;
}

static BlockStatus finish_query(Join *join, Block *block, const Current *query) {
    if (!query->count) return BLOCK_OK;
    BlockStatus status = read_rows(join, block, join->rows, query->count);
    if (status != BLOCK_OK) return status;
    QueryRows rows = {.text = block->text, .rows = join->rows, .count = query->count};
    rows.has_decreasing_ranks = query->has_decreasing_ranks;
    rows.query = join_query_number(join, block->text + query->begin, query->length);
    note_order(join, &rows);
    JoinStatus joined = join_query(join, &rows);
    if (joined != JOIN_OK) return joined == JOIN_ODD ? BLOCK_ODD : BLOCK_MEMORY;
    if (block->query_count == block->query_room) {
        uint32_t room = block->query_room ? 2 * block->query_room : 64;
        FoundQuery *larger = realloc(block->queries, room * sizeof *larger);
        if (!larger) return BLOCK_MEMORY;
        block->queries = larger;
        block->query_room = room;
    }
    FoundQuery found = {query->begin, query->length, rows.query, query->count};
    block->queries[block->query_count++] = found;
    block->rows += query->count;
    return BLOCK_OK;
}

static void begin_query(Current *query, const byte *text, const RunLine *line, uint64_t lines_before) {
    memset(query, 0, sizeof *query);
    query->begin = line->query;
    query->length = line->query_end - line->query;
    query->mask = keep_bytes(~(uint64_t)0, query->length);
    query->word = load_word(text + line->query) & query->mask;
    query->lines_before = lines_before;
    query->next_sample = SPARSE_RANKS;
}

INLINE int is_same_query(const Current *query, const byte *text, const RunLine *line) {
    return line->query_end - line->query == query->length &&
           (load_word(text + line->query) & query->mask) == query->word &&
           (query->length <= 8 || id_same(text + line->query, text + query->begin, query->length));
}

INLINE void sample_rank(Current *query, const byte *text, const RunLine *line) {
    uint32_t row = query->count;
    if (LIKELY(row >= DENSE_RANKS && row != query->next_sample)) return;
    if (row >= DENSE_RANKS) query->next_sample += SPARSE_RANKS;
    uint32_t end = line->rank;
    while (!is_white(text[end])) end++; /* a score follows, so that this ends */
    uint64_t key = rank_key(text + line->rank, end - line->rank);
    query->has_decreasing_ranks |= row && key < query->last_rank;
    query->last_rank = key;
}

/* Whether an id is too long, or has characters that must be reported. */
INLINE int is_odd_id(const Join *join, const Blanks *blanks, uint32_t begin, uint32_t end) {
    return end - begin > join->max_id || (blanks->has_odd && id_is_invisible(blanks->text + begin, end - begin));
}

INLINE BlockStatus scan_lines(Join *join, Block *block, Blanks *blanks) {
    const byte *text = block->text;
    Current query;
    RunLine line = {0};
    uint32_t at = 0, columns;
    uint64_t lines = 0;
    int is_checked = 0; /* whether unusual bytes were met, and there is no NUL among them */
    BlockStatus status;
    memset(&query, 0, sizeof query);
    for (;;) {
        if (LIKELY(usual_line(blanks, at, &line))) {
            at = line.tag_end + 1;
            lines++;
        } else {
            RunLine other = {0};
            if (!unusual_line(blanks, &at, &other, &lines, &columns)) break;
            if (columns != RUN_COLUMNS) return BLOCK_ODD;
            line = other;
        }
        if (!LIKELY(is_same_query(&query, text, &line))) {
            if ((status = finish_query(join, block, &query)) != BLOCK_OK) return status;
            begin_query(&query, text, &line, lines - 1);
            if (is_odd_id(join, blanks, line.query, line.query_end)) return BLOCK_ODD;
        }
        if (is_odd_id(join, blanks, line.doc, line.doc_end)) return BLOCK_ODD;
        if (blanks->has_odd && !is_checked) {
            if (memchr(text, 0, block->size)) return BLOCK_ODD;
            is_checked = 1;
        }
        sample_rank(&query, text, &line);
        if (query.count == join->row_room && !join_grow_rows(join)) return BLOCK_MEMORY;
        Row *row = join->rows + query.count++;
        row->doc = line.doc;
        row->doc_length = line.doc_end - line.doc;
        row->score_begin = line.score;
        row->score_length = line.score_end - line.score;
    }
    if (blanks->has_odd && !is_checked && memchr(text, 0, block->size)) return BLOCK_ODD;
    block->tag = line.tag;
    block->tag_length = line.tag_end - line.tag;
    if (block->is_last || !query.count) {
        block->used = block->size;
        block->lines = lines;
        return finish_query(join, block, &query);
    }
    block->used = query.begin;
    block->lines = query.lines_before;
    return BLOCK_OK;
}

static BlockStatus scan_block(Join *join, Block *block) {
    uint64_t hits_before = join->hit_count;
    Blanks *blanks = malloc(sizeof *blanks);
    if (!blanks) return BLOCK_MEMORY;
    blanks_begin(blanks, block->text, block->size);
    BlockStatus status = scan_lines(join, block, blanks);
    if (status != BLOCK_OK) join->hit_count = hits_before;
    free(blanks);
    return status;
}
