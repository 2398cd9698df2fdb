/* A block of a run: lines are split, scores read, and the rows of each complete query joined with the judgments.

   If anything about a line is wrong or worth a word, the block is odd and nothing of it is kept. */

#include <stdlib.h>

#include "scanner.h"

#define DENSE_RANKS 10 /* the sampled ranks: the first ones of a query, then every fiftieth (io/rank_checks.py) */
#define SPARSE_RANKS 50

/* What is used of a line. */
typedef struct {
    uint32_t query, query_end, doc, doc_end, score, score_end, tag, tag_end;
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
    RunLine found = {begin, ends[0], ends[1] + 1, ends[2], ends[3] + 1, ends[4], ends[4] + 1, ends[5]};
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
    RunLine found = {columns.begin[0], columns.end[0], columns.begin[2], columns.end[2],
                     columns.begin[4], columns.end[4], columns.begin[5], columns.end[5]};
    *line = found;
    return 1;
}

/* A key in the order of whole numbers without leading zeros, as in io/rank_checks.py. */
INLINE uint64_t rank_key(const byte *text, uint32_t length) {
    uint64_t word = swap_bytes(keep_bytes(load_word(text), length));
    return length >= 8 ? word : word >> (8 * (8 - length));
}

/* The query whose lines are being read. */
typedef struct {
    uint32_t begin, length, count; /* of its id, and the number of its rows so far */
    uint64_t word, mask;           /* the first bytes of its id, and which of eight they are */
    uint64_t lines_before;
} Current;

/* An unusual number. */
NOINLINE static BlockStatus read_score(const Block *block, Row *row, Decimal decimal) {
    double score = 0.0;
    DecimalStatus status = decimal_value(decimal, &score);
    if (status == DECIMAL_BAD) return BLOCK_ODD;
    if (status == DECIMAL_HARD) {
        uint32_t length;
        const byte *text = next_column(block->text + row->doc + row->doc_length, &length); /* the rank */
        text = next_column(text + length, &length);
        if (!block->hard(block->context, text, length, &score)) return BLOCK_RAISED;
    }
    row->score = score;
    return score - score == 0.0 ? BLOCK_OK : BLOCK_ODD; /* an infinite one is odd */
}

static BlockStatus read_scores(const Block *block, Row *rows, uint32_t count) {
    for (uint32_t at = 0; at < count; at++) {
        Row *row = rows + at;
        Decimal decimal = decimal_read(block->text + row->text.begin, row->text.length);
        row->number = decimal.number;
        row->form = decimal.form;
    }
    for (uint32_t at = 0; at < count; at++) {
        Row *row = rows + at;
        Decimal decimal = {row->number, row->form};
        if (LIKELY(decimal_is_usual(decimal))) {
            row->score = decimal_usual_value(decimal);
        } else {
            BlockStatus status = read_score(block, row, decimal);
            if (status != BLOCK_OK) return status;
        }
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

/* Whether one of the sampled ranks, which follow the documents, is lower than the one before it. */
static int has_decreasing_ranks(const QueryRows *query) {
    uint64_t last = 0;
    for (uint32_t row = 0; row < query->count; row += row < DENSE_RANKS - 1 ? 1 : SPARSE_RANKS - row % SPARSE_RANKS) {
        uint32_t length;
        const byte *rank = next_column(query->text + query->rows[row].doc + query->rows[row].doc_length, &length);
        uint64_t key = rank_key(rank, length);
        if (key < last) return 1;
        last = key;
    }
    return 0;
}

static FoundQuery *new_query(Block *block) {
    if (block->query_count == block->query_room) {
        uint64_t room = block->query_room ? 2 * (uint64_t)block->query_room : 64;
        if (room > MAX_TEXT || !grow((void **)&block->queries, room, sizeof *block->queries)) return NULL;
        block->query_room = (uint32_t)room;
    }
    return block->queries + block->query_count++;
}

/* Read and join the rows of a query, which are in join->rows. */
static BlockStatus join_rows(Join *join, Block *block, FoundQuery *found) {
    QueryRows rows = {.text = block->text, .rows = join->rows, .count = (uint32_t)found->rows};
    BlockStatus status = read_scores(block, join->rows, rows.count);
    if (status != BLOCK_OK) return status;
    found->number = rows.query = join_query_number(join, block->text + found->begin, (uint32_t)found->length);
    note_order(join, &rows);
    rows.has_decreasing_ranks = has_decreasing_ranks(&rows);
    block->rows += rows.count;
    JoinStatus joined = join_query(join, &rows);
    return joined == JOIN_OK ? BLOCK_OK : joined == JOIN_ODD ? BLOCK_ODD : BLOCK_MEMORY;
}

static BlockStatus finish_query(Join *join, Block *block, const Current *query) {
    if (!query->count) return BLOCK_OK;
    FoundQuery *found = new_query(block);
    if (!found) return BLOCK_MEMORY;
    FoundQuery complete = {query->begin, query->length, -1, query->count, 0, 0};
    *found = complete;
    return join_rows(join, block, found);
}

static void begin_query(Current *query, const byte *text, const RunLine *line, uint64_t lines_before) {
    memset(query, 0, sizeof *query);
    query->begin = line->query;
    query->length = line->query_end - line->query;
    query->mask = keep_bytes(~(uint64_t)0, query->length);
    query->word = load_word(text + line->query) & query->mask;
    query->lines_before = lines_before;
}

INLINE int is_same_query(const Current *query, const byte *text, const RunLine *line) {
    return line->query_end - line->query == query->length &&
           (load_word(text + line->query) & query->mask) == query->word &&
           (query->length <= 8 || id_same(text + line->query, text + query->begin, query->length));
}

/* Whether an id is too long, or has characters that must be reported. */
INLINE int is_odd_id(const Join *join, const Blanks *blanks, uint32_t begin, uint32_t end) {
    return end - begin > join->max_id || (blanks->has_odd && id_is_invisible(blanks->text + begin, end - begin));
}

/* The state of reading lines. */
typedef struct {
    Blanks *blanks;
    RunLine line;   /* the last one */
    uint32_t at;    /* where the next one begins */
    uint64_t lines; /* their number */
    int is_checked; /* whether unusual bytes were met, and there is no NUL among them */
} Reading;

/* The next line with content. ODD: it has not six columns, or an odd document id. */
INLINE BlockStatus read_line(const Join *join, const Block *block, Reading *reading, int *is_end) {
    Blanks *blanks = reading->blanks;
    if (LIKELY(usual_line(blanks, reading->at, &reading->line))) {
        reading->at = reading->line.tag_end + 1;
        reading->lines++;
    } else {
        RunLine other = {0};
        uint32_t columns = 0;
        *is_end = !unusual_line(blanks, &reading->at, &other, &reading->lines, &columns);
        if (!*is_end && columns != RUN_COLUMNS) return BLOCK_ODD;
        if (!*is_end) reading->line = other;
    }
    if (blanks->has_odd && !reading->is_checked) {
        if (memchr(block->text, 0, block->size)) return BLOCK_ODD;
        reading->is_checked = 1;
    }
    return !*is_end && is_odd_id(join, blanks, reading->line.doc, reading->line.doc_end) ? BLOCK_ODD : BLOCK_OK;
}

INLINE void fill_row(Row *row, const RunLine *line) {
    row->doc = line->doc;
    row->doc_length = line->doc_end - line->doc;
    row->text.begin = line->score;
    row->text.length = line->score_end - line->score;
}

/* As many of the usual lines ahead as belong to the query and as there is room for rows; what does not change from one
   to the next is kept out of memory. */
INLINE void usual_lines(const Join *join, Current *query, Reading *reading) {
    const Blanks *blanks = reading->blanks;
    const byte *text = blanks->text;
    const uint32_t *ends = blanks->positions + blanks->next, *first = ends, *last = blanks->positions + blanks->count;
    const uint64_t word = query->word, mask = query->mask;
    const uint32_t length = query->length, max_id = join->max_id;
    const int has_odd = blanks->has_odd != 0;
    uint32_t begin = reading->at;
    Row *row = join->rows + query->count, *end = join->rows + join->row_room;
    if (blanks->has_runs || !query->count) return;
    if (last > ends && last[-1] == blanks->size) last--; /* the end of the text, which is not a newline */
    for (; last - ends >= RUN_COLUMNS && row < end; ends += RUN_COLUMNS, row++) {
        byte blank = text[ends[0]];
        uint32_t other = (uint32_t)(text[ends[1]] ^ blank) | (uint32_t)(text[ends[2]] ^ blank) |
                         (uint32_t)(text[ends[3]] ^ blank) | (uint32_t)(text[ends[4]] ^ blank);
        if (!LIKELY(other == 0 && blank != '\n' && text[ends[5]] == '\n')) break;
        if (!LIKELY(ends[0] - begin == length && (load_word(text + begin) & mask) == word)) break;
        if (length > 8 && !id_same(text + begin, text + query->begin, length)) break;
        uint32_t doc = ends[1] + 1, doc_length = ends[2] - doc;
        if (doc_length > max_id || (has_odd && id_is_invisible(text + doc, doc_length))) break;
        row->doc = doc;
        row->doc_length = doc_length;
        row->text.begin = ends[3] + 1;
        row->text.length = ends[4] - ends[3] - 1;
        begin = ends[5] + 1;
    }
    if (ends == first) return;
    uint32_t count = (uint32_t)(ends - first);
    reading->line.tag = ends[-2] + 1, reading->line.tag_end = ends[-1];
    reading->at = begin;
    reading->lines += count / RUN_COLUMNS;
    reading->blanks->next += count;
    query->count += count / RUN_COLUMNS;
}

static BlockStatus scan_lines(Join *join, Block *block, Blanks *blanks) {
    Reading reading = {.blanks = blanks};
    Current query;
    BlockStatus status;
    memset(&query, 0, sizeof query);
    for (int is_end = 0;;) {
        usual_lines(join, &query, &reading);
        if ((status = read_line(join, block, &reading, &is_end)) != BLOCK_OK) return status;
        if (is_end) break;
        const RunLine *line = &reading.line;
        if (!LIKELY(is_same_query(&query, block->text, line))) {
            if ((status = finish_query(join, block, &query)) != BLOCK_OK) return status;
            begin_query(&query, block->text, line, reading.lines - 1);
            if (is_odd_id(join, blanks, line->query, line->query_end)) return BLOCK_ODD;
        }
        if (query.count == join->row_room && !join_grow_rows(join, (uint64_t)query.count + 1)) return BLOCK_MEMORY;
        fill_row(join->rows + query.count++, line);
    }
    block->tag = reading.line.tag;
    block->tag_length = reading.line.tag_end - reading.line.tag;
    if (block->is_last || !query.count) {
        block->used = block->size;
        block->lines = reading.lines;
        return finish_query(join, block, &query);
    }
    block->used = query.begin;
    block->lines = query.lines_before;
    return BLOCK_OK;
}
