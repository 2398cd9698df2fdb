/* A block of a run: lines are split, scores read, and the rows of each complete query joined with the judgments.

   If anything about a line is wrong or worth a word, the block is odd and nothing of it is kept. */

#include <stdlib.h>

#include "scanner.h"

#define DENSE_RANKS 10 /* the sampled ranks: the first ones of a query, then every fiftieth (io/checks/ranks.py) */
#define SPARSE_RANKS 50

/* The usual line: six columns with one and the same blank between them and a newline behind the last. */
INLINE int usual_line(Blanks *blanks, uint32_t begin, Line *line) {
    if (blanks_ahead(blanks, RUN_COLUMNS) < RUN_COLUMNS || blanks->has_runs) return 0;
    const uint32_t *ends = blanks->positions + blanks->next;
    const byte *text = blanks->text;
    if (!LIKELY(ends[RUN_COLUMNS - 1] < blanks->size && text[ends[RUN_COLUMNS - 1]] == '\n')) return 0;
    byte blank = text[ends[0]], other = 0;
    line->begin[0] = begin;
    line->end[0] = ends[0];
    for (int column = 1; column < RUN_COLUMNS; column++) {
        line->begin[column] = ends[column - 1] + 1;
        line->end[column] = ends[column];
        if (column < RUN_COLUMNS - 1) other |= text[ends[column]] ^ blank;
    }
    if (!LIKELY(other == 0 && blank != '\n')) return 0;
    blanks->next += RUN_COLUMNS;
    line->count = RUN_COLUMNS;
    return 1;
}

/* A key in the order of whole numbers without leading zeros, as in io/checks/ranks.py. */
INLINE uint64_t rank_key(const byte *text, uint32_t length) {
    uint64_t word = swap_bytes(keep_bytes(load_word(text), length));
    return length >= 8 ? word : word >> (8 * (8 - length));
}

typedef struct {
    QueryRows rows;
    uint32_t begin, length; /* of its id */
    uint64_t first_word, last_rank;
    uint64_t lines_before;
    float last_float;
    double last_score;
    uint32_t next_sample;
} Current;

static BlockStatus finish_query(Join *join, Block *block, Current *query) {
    if (!query->rows.count) return BLOCK_OK;
    query->rows.rows = join->rows;
    query->rows.text = block->text;
    query->rows.query = join_query_number(join, block->text + query->begin, query->length);
    JoinStatus status = join_query(join, &query->rows);
    if (status != JOIN_OK) return status == JOIN_ODD ? BLOCK_ODD : BLOCK_MEMORY;
    if (block->query_count == block->query_room) {
        uint32_t room = block->query_room ? 2 * block->query_room : 64;
        FoundQuery *larger = realloc(block->queries, room * sizeof *larger);
        if (!larger) return BLOCK_MEMORY;
        block->queries = larger;
        block->query_room = room;
    }
    FoundQuery *found = block->queries + block->query_count++;
    found->begin = query->begin;
    found->length = query->length;
    found->number = query->rows.query;
    found->rows = query->rows.count;
    block->rows += query->rows.count;
    return BLOCK_OK;
}

static void begin_query(Current *query, const Line *line, uint64_t word, uint64_t lines_before) {
    memset(query, 0, sizeof *query);
    query->begin = line->begin[0];
    query->length = line->end[0] - line->begin[0];
    query->first_word = word;
    query->lines_before = lines_before;
    query->rows.is_strict = 1;
    query->next_sample = SPARSE_RANKS;
}

INLINE void sample_rank(Current *query, const byte *text, const Line *line) {
    uint32_t row = query->rows.count;
    if (LIKELY(row >= DENSE_RANKS && row != query->next_sample)) return;
    if (row >= DENSE_RANKS) query->next_sample += SPARSE_RANKS;
    uint64_t key = rank_key(text + line->begin[3], line->end[3] - line->begin[3]);
    query->rows.has_decreasing_ranks |= row && key < query->last_rank;
    query->last_rank = key;
}

/* A score; infinite ones are odd. */
INLINE BlockStatus read_score(const Block *block, const Line *line, double *score) {
    const byte *text = block->text + line->begin[4];
    uint32_t length = line->end[4] - line->begin[4];
    DecimalStatus status = decimal_read(text, length, score);
    if (LIKELY(status == DECIMAL_OK)) return BLOCK_OK;
    if (status == DECIMAL_BAD) return BLOCK_ODD;
    if (!block->hard(block->context, text, length, score)) return BLOCK_RAISED;
    return *score - *score == 0.0 ? BLOCK_OK : BLOCK_ODD;
}

INLINE void note_order(const Join *join, Current *query, double score) {
    float as_float = (float)score;
    if (query->rows.count) {
        query->rows.is_increasing |= score > query->last_score;
        query->rows.is_strict &= join->in_doubles ? query->last_score > score : query->last_float > as_float;
    }
    query->last_float = as_float;
    query->last_score = score;
}

static BlockStatus scan_lines(Join *join, Block *block, Blanks *blanks) {
    const byte *text = block->text;
    Current query;
    Line line;
    uint32_t at = 0;
    uint64_t lines = 0;
    int is_checked = 0; /* whether unusual bytes were met, and there is no NUL among them */
    memset(&query, 0, sizeof query);
    for (;;) {
        if (LIKELY(usual_line(blanks, at, &line))) {
            at = line.end[RUN_COLUMNS - 1] + 1;
            lines++;
        } else if (!next_line(blanks, &at, RUN_COLUMNS, &line, &lines)) {
            break;
        } else if (line.count != RUN_COLUMNS) {
            return BLOCK_ODD;
        }
        uint32_t length = line.end[0] - line.begin[0], doc_length = line.end[2] - line.begin[2];
        uint64_t word = keep_bytes(load_word(text + line.begin[0]), length);
        if (!LIKELY(length == query.length && word == query.first_word &&
                    (length <= 8 || id_same(text + line.begin[0], text + query.begin, length)))) {
            BlockStatus status = finish_query(join, block, &query);
            if (status != BLOCK_OK) return status;
            begin_query(&query, &line, word, lines - 1);
            if (length > join->max_id || (blanks->has_odd && id_is_invisible(text + line.begin[0], length))) return BLOCK_ODD;
        }
        if (blanks->has_odd) {
            if (!is_checked && memchr(text, 0, block->size)) return BLOCK_ODD;
            is_checked = 1;
            if (id_is_invisible(text + line.begin[2], doc_length)) return BLOCK_ODD;
        }
        if (doc_length > join->max_id) return BLOCK_ODD;
        double score;
        BlockStatus status = read_score(block, &line, &score);
        if (status != BLOCK_OK) return status;
        sample_rank(&query, text, &line);
        note_order(join, &query, score);
        if (query.rows.count == join->row_room && !join_grow_rows(join)) return BLOCK_MEMORY;
        Row *row = join->rows + query.rows.count++;
        row->hash = id_hash(text + line.begin[2], doc_length, join->seed);
        row->score = score;
        row->doc = line.begin[2];
        row->doc_length = doc_length;
        block->tag = line.begin[5];
        block->tag_length = line.end[5] - line.begin[5];
    }
    if (blanks->has_odd && !is_checked && memchr(text, 0, block->size)) return BLOCK_ODD;
    if (block->is_last || !query.rows.count) {
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
