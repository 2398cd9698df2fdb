/* Named columns as they are read, row by row: the texts of ids, copied into one buffer, and one column of numbers.

   A row that needs a closer look (a fault, or text that only Python reads the same way) is odd: only where it is in the
   file is kept, and Python reads it again. */

#include "scanner.h"

#define MAX_NAMES 64

/* What a column is for; several may apply. */
enum { COLUMN_ID = 1, COLUMN_TEXT = 2, COLUMN_NUMBER = 4 };

typedef enum { ROWS_OK, ROWS_BAD } RowsStatus; /* bad: Python must read all of it */

/* A part of a file, and how far it was read. What is not complete is read again, with what follows. */
typedef struct {
    const byte *text;
    int64_t size, used, line;
    int is_last; /* whether the file ends here */
} Part;

typedef struct {
    uint32_t count;             /* the columns of the file; the last of them may be of no use */
    byte use[MAX_NAMES];
    int wanted[MAX_NAMES];      /* the number of a text column among those that are returned, or -1 */
    uint32_t wanted_count;
    int64_t *cells;             /* for each wanted column its starts, then for each its lengths; line, begin, end */
    double *values;
    byte *text;
    int64_t room, rows, text_room, text_size;
    int64_t previous[MAX_NAMES]; /* the row whose text a column may share, or -1 */
} Columns;

INLINE int64_t *cell_starts(const Columns *columns, int wanted) { return columns->cells + wanted * columns->room; }

INLINE int64_t *cell_lengths(const Columns *columns, int wanted) {
    return columns->cells + ((int64_t)columns->wanted_count + wanted) * columns->room;
}

/* The line of each row (0), where an odd one begins (1) and where it ends, or 0 (2). */
INLINE int64_t *row_places(const Columns *columns, int which) {
    return columns->cells + (2 * (int64_t)columns->wanted_count + which) * columns->room;
}

/* Whether there is room for another row that is this long in the file. */
INLINE int columns_have_room(const Columns *columns, int64_t length) {
    return columns->rows < columns->room && length <= columns->text_room - columns->text_size;
}

/* Store a text that is a part of the file. One that repeats that of the row before, as queries do, is stored once. */
INLINE void store_text(Columns *columns, int wanted, const byte *text, int64_t length) {
    int64_t *start = cell_starts(columns, wanted), *lengths = cell_lengths(columns, wanted), row = columns->rows;
    lengths[row] = length;
    if (row && lengths[row - 1] == length && columns->previous[wanted] == row - 1 &&
        !memcmp(columns->text + start[row - 1], text, (size_t)length)) {
        start[row] = start[row - 1];
    } else {
        start[row] = columns->text_size;
        memcpy(columns->text + columns->text_size, text, (size_t)length);
        columns->text_size += length;
    }
    columns->previous[wanted] = row;
}

INLINE void store_nothing(Columns *columns, int wanted) {
    cell_starts(columns, wanted)[columns->rows] = 0;
    cell_lengths(columns, wanted)[columns->rows] = 0;
}

/* End a row; if it is odd, its cells mean nothing. */
INLINE void store_row(Columns *columns, int64_t line, int64_t begin, int64_t end, int is_odd) {
    int64_t row = columns->rows++;
    row_places(columns, 0)[row] = line;
    row_places(columns, 1)[row] = begin;
    row_places(columns, 2)[row] = is_odd ? end : 0;
    if (!is_odd) return;
    columns->values[row] = 0.0;
    for (uint32_t wanted = 0; wanted < columns->wanted_count; wanted++) {
        cell_starts(columns, (int)wanted)[row] = cell_lengths(columns, (int)wanted)[row] = 0;
        columns->previous[wanted] = -1;
    }
}
