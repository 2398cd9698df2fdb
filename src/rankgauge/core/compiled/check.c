/* A block of a run, validated: which of its queries may have a fault.

   A query is clean if its ranks are written 1, 2, 3 … in the order of its lines, no document appears twice, scores never
   increase, none is the same on both sides of a cutoff, and the number of rows is within the limits. All others are
   suspects, for the code in Python that knows every fault and its words. Anything odd about a line, or a second tag,
   makes the block odd, as in block.c; so do blank lines and carriage returns. */

#include <stdlib.h>

#include "scanner.h"

#define MAX_TAG 256

typedef struct {
    const int64_t *cutoffs;
    Py_ssize_t cutoff_count;
    int64_t least, most; /* rows of a query */
    byte tag[MAX_TAG + PADDING]; /* of the first line of the file */
    uint32_t tag_length;         /* 0 before that */
} Checks;

/* A whole number as text, which counts up. */
typedef struct {
    byte digits[MAX_DIGITS + PADDING];
    uint32_t length; /* of the digits before the padding */
} Counter;

INLINE void count_up(Counter *counter) {
    byte *digit = counter->digits + MAX_DIGITS - 1;
    while (*digit == '9') *digit-- = '0';
    if (*digit == 0) *digit = '0', counter->length++;
    ++*digit;
}

static int has_usual_ranks(const QueryRows *query) {
    Counter counter = {{0}, 0};
    for (uint32_t row = 0; row < query->count; row++) {
        const byte *behind = query->text + query->rows[row].doc + query->rows[row].doc_length, *rank = behind + 1;
        count_up(&counter);
        const byte *expected = counter.digits + MAX_DIGITS - counter.length;
        if (LIKELY(id_same(rank, expected, counter.length) && is_white(rank[counter.length]))) continue;
        uint32_t length;
        rank = next_column(behind, &length);
        if (length != counter.length || !id_same(rank, expected, length)) return 0;
    }
    return 1;
}

static int has_usual_scores(const QueryRows *query, const Checks *checks) {
    const Row *rows = query->rows;
    int is_increasing = 0;
    for (uint32_t at = 1; at < query->count; at++) is_increasing |= (float)rows[at].score > (float)rows[at - 1].score;
    if (is_increasing) return 0;
    for (Py_ssize_t number = 0; number < checks->cutoff_count; number++) {
        int64_t at = checks->cutoffs[number];
        if (at > 0 && at < (int64_t)query->count && (float)rows[at].score == (float)rows[at - 1].score) return 0;
    }
    return 1;
}

static BlockStatus check_query(Join *join, Block *block, const Checks *checks, const Current *query) {
    if (!query->count) return BLOCK_OK;
    FoundQuery *found = new_query(block);
    if (!found) return BLOCK_MEMORY;
    FoundQuery complete = {query->begin, query->length, -1, query->count, 0, 0};
    *found = complete;
    block->rows += query->count;
    QueryRows rows = {.text = block->text, .rows = join->rows, .count = query->count, .query = -1};
    BlockStatus status = read_scores(block, join->rows, rows.count);
    if (status != BLOCK_OK) return status;
    uint32_t hits;
    if (!make_room(join, rows.count, rows.count, 0)) return BLOCK_MEMORY;
    found->resumed = rows.count < checks->least || rows.count > checks->most || !has_usual_ranks(&rows) ||
                     !has_usual_scores(&rows, checks) || match_rows(join, &rows, 0, 0, &hits) != JOIN_OK;
    return BLOCK_OK;
}

/* Whether a line has the tag of the first line. */
INLINE int is_same_tag(Checks *checks, const byte *text, const RunLine *line) {
    uint32_t length = line->tag_end - line->tag;
    if (!checks->tag_length && length <= MAX_TAG) memcpy(checks->tag, text + line->tag, checks->tag_length = length);
    return length == checks->tag_length && id_same(text + line->tag, checks->tag, length);
}

/* The same for usual lines that were just read: their tags follow the scores, and newlines the tags. */
INLINE int have_same_tag(const Checks *checks, const byte *text, const Row *rows, uint32_t count) {
    int is_same = 1;
    for (uint32_t row = 0; row < count; row++) {
        const byte *tag = text + rows[row].text.begin + rows[row].text.length + 1;
        is_same &= id_same(tag, checks->tag, checks->tag_length) && tag[checks->tag_length] == '\n';
    }
    return is_same;
}

static BlockStatus check_lines(Join *join, Block *block, Checks *checks, Blanks *blanks) {
    Reading reading = {.blanks = blanks};
    Current query;
    BlockStatus status;
    memset(&query, 0, sizeof query);
    for (int is_end = 0;;) {
        uint32_t known = query.count;
        usual_lines(join, &query, &reading);
        if (!have_same_tag(checks, block->text, join->rows + known, query.count - known)) return BLOCK_ODD;
        uint64_t lines_before = reading.lines;
        if ((status = read_line(join, block, &reading, &is_end)) != BLOCK_OK) return status;
        if (reading.lines != lines_before + !is_end) return BLOCK_ODD; /* blank ones */
        if (is_end) break;
        const RunLine *line = &reading.line;
        if (!is_same_tag(checks, block->text, line)) return BLOCK_ODD;
        if (!LIKELY(is_same_query(&query, block->text, line))) {
            if ((status = check_query(join, block, checks, &query)) != BLOCK_OK) return status;
            begin_query(&query, block->text, line, reading.lines - 1);
            if (is_odd_id(join, blanks, line->query, line->query_end)) return BLOCK_ODD;
        }
        if (query.count == join->row_room && !join_grow_rows(join, (uint64_t)query.count + 1)) return BLOCK_MEMORY;
        fill_row(join->rows + query.count++, line);
    }
    int is_complete = block->is_last || !query.count;
    block->used = is_complete ? block->size : query.begin;
    block->lines = is_complete ? reading.lines : query.lines_before;
    return is_complete ? check_query(join, block, checks, &query) : BLOCK_OK;
}

static BlockStatus check_block(Join *join, Block *block, Checks *checks) {
    if (memchr(block->text, '\r', block->size)) return BLOCK_ODD;
    Blanks *blanks = malloc(sizeof *blanks);
    if (!blanks) return BLOCK_MEMORY;
    blanks_begin(blanks, block->text, block->size);
    BlockStatus status = check_lines(join, block, checks, blanks);
    free(blanks);
    return status;
}
