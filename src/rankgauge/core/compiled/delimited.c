/* Lines of cells between delimiters. A line with quotation marks is read as Python's csv module reads it with `strict`;
   in one without them, a carriage return that does not end the line is part of its cell. */

#include "scanner.h"

#define MAX_CELL 131072 /* bytes: the csv module refuses longer cells */

typedef struct {
    const byte *begin, *end;
    int has_doubled; /* whether a quotation mark in it is written twice */
} Cell;

typedef struct {
    byte delimiter;
    int is_quoted;          /* whether a cell may be in quotation marks */
    byte is_special[256];
    Cell cells[MAX_NAMES];
    uint32_t count;         /* of the current line; only the first cells are kept */
} Delimited;

/* A cell in quotation marks, behind the first; 0 if it does not end properly, -1 if it does not end in this text. */
static int quoted_cell(byte delimiter, const byte **at, const byte *end, int is_last, Cell *cell, int64_t *lines) {
    cell->begin = *at;
    cell->has_doubled = 0;
    for (const byte *mark = *at;; mark += 2) {
        const byte *from = mark;
        mark = memchr(mark, '"', (size_t)(end - mark));
        const byte *to = mark ? mark : end;
        while ((from = memchr(from, '\n', (size_t)(to - from))) != NULL) from++, ++*lines;
        if (!mark) return is_last ? 0 : -1;
        if (mark + 1 == end && !is_last) return -1;
        if (mark + 1 < end && mark[1] == '"') {
            cell->has_doubled = 1;
            continue;
        }
        cell->end = mark;
        *at = mark + 1;
        return mark + 1 == end || mark[1] == delimiter || mark[1] == '\n' || mark[1] == '\r';
    }
}

/* The cells of a line, and where the next one begins: 1; 0 if the csv module must look, -1 if the line is not complete. */
static int delimited_line(Delimited *file, const byte **at, const byte *end, int is_last, int64_t *lines) {
    const byte *here = *at;
    int is_odd = 0; /* in a way that the csv module does not accept */
    file->count = 0;
    for (;;) {
        Cell other, *cell = file->count < MAX_NAMES ? file->cells + file->count : &other;
        file->count++;
        if (file->is_quoted && here < end && *here == '"') {
            here++;
            int found = quoted_cell(file->delimiter, &here, end, is_last, cell, lines);
            if (found <= 0) return found;
        } else {
            cell->begin = here;
            cell->has_doubled = 0;
            for (;; here++) {
                while (here < end && !file->is_special[*here]) here++;
                if (here == end || *here != '\r') break;
                if (here + 1 == end || here[1] == '\n') break;
                is_odd = 1;
            }
            cell->end = here;
        }
        is_odd |= cell->end - cell->begin > MAX_CELL;
        if (here < end && *here == file->delimiter) {
            here++;
            continue;
        }
        if (here == end && !is_last) return -1;
        if (here < end && *here == '\r') {
            if (here + 1 == end && !is_last) return -1;
            if (here + 1 < end && here[1] != '\n') return 0;
            here++;
        }
        if (is_odd && file->is_quoted && memchr(*at, '"', (size_t)(here - *at))) return 0;
        ++*lines;
        *at = here < end ? here + 1 : end;
        return 1;
    }
}

/* Store a cell without its quotation marks. */
INLINE void store_cell(Columns *columns, int wanted, const Cell *cell) {
    if (!cell->has_doubled) {
        store_text(columns, wanted, cell->begin, cell->end - cell->begin);
        return;
    }
    byte *out = columns->text + columns->text_size, *to = out;
    for (const byte *from = cell->begin; from < cell->end; from++) {
        *to++ = *from;
        from += *from == '"';
    }
    cell_starts(columns, wanted)[columns->rows] = columns->text_size;
    cell_lengths(columns, wanted)[columns->rows] = to - out;
    columns->previous[wanted] = columns->rows;
    columns->text_size += to - out;
}

/* The number in a cell, spaces around it ignored; 0 if Python must look at it. */
INLINE int cell_number(const Cell *cell, double *number) {
    const byte *begin = cell->begin, *end = cell->end;
    while (begin < end && *begin == ' ') begin++;
    while (end > begin && end[-1] == ' ') end--;
    if (begin == end || end - begin > MAX_NUMBER) return 0;
    Decimal decimal = decimal_read(begin, (uint32_t)(end - begin));
    if (LIKELY(decimal_is_usual(decimal))) {
        *number = decimal_usual_value(decimal);
        return 1;
    }
    return decimal_value(decimal, number) == DECIMAL_OK;
}

INLINE int delimited_store(const Delimited *file, Columns *columns) {
    for (uint32_t at = 0; at < columns->count; at++) {
        byte use = columns->use[at];
        if (use & COLUMN_NUMBER && !cell_number(file->cells + at, columns->values + columns->rows)) return 0;
        if (columns->wanted[at] >= 0) store_cell(columns, columns->wanted[at], file->cells + at);
    }
    return 1;
}

/* Read lines of cells. A line that has not the right number of cells, or no number where one is expected, is odd; a
   blank one is skipped. */
static RowsStatus read_delimited(Delimited *file, Columns *columns, Part *part) {
    const byte *text = part->text, *end = text + part->size;
    memset(file->is_special, 0, sizeof file->is_special);
    file->is_special[file->delimiter] = file->is_special['\n'] = 1;
    file->is_special['\r'] = 1;
    while (text + part->used < end) {
        const byte *begin = text + part->used, *at = begin;
        int64_t lines = 0;
        int found = delimited_line(file, &at, end, part->is_last, &lines);
        if (found < 0) return ROWS_OK;
        if (!found) return ROWS_BAD;
        if (file->count > 1 || file->cells[0].end > file->cells[0].begin || (file->is_quoted && *begin == '"')) {
            if (!columns_have_room(columns, at - begin)) return ROWS_OK;
            int64_t text_size = columns->text_size;
            int is_odd = file->count != columns->count || !delimited_store(file, columns);
            if (is_odd) columns->text_size = text_size;
            store_row(columns, part->line + 1, begin - text, at - text, is_odd);
        }
        part->line += lines;
        part->used = at - text;
    }
    return ROWS_OK;
}
