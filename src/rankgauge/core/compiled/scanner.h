/* What the parts of the scanner share.

   The machine: any byte order and any alignment. Words are loaded with memcpy and are little-endian after loading, so
   that the first byte of a text is the lowest byte of its word. int64_t and IEEE 754 doubles are required; sizes and
   positions within a buffer fit into 32 bits, which the callers check. White space is found with SSE2 where the
   compiler promises it (every x86-64 does), otherwise byte by byte, with the same result.

   Every buffer that is scanned has PADDING readable bytes behind its text, so that a word can be loaded at any byte. */

#ifndef RANKGAUGE_SCANNER_H
#define RANKGAUGE_SCANNER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PADDING 24
#define MAX_TEXT 0x7FFFFFF0u /* positions, and twice their number, fit into 32 bits */
#define RUN_COLUMNS 6

#if defined(_MSC_VER)
#include <intrin.h>
#define INLINE static __forceinline
#define NOINLINE __declspec(noinline)
#define LIKELY(condition) (condition)
#define PREFETCH(address) ((void)(address))
#else
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define PREFETCH(address) __builtin_prefetch(address)
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BIG_ENDIAN_MACHINE 1
#else
#define BIG_ENDIAN_MACHINE 0
#endif

typedef unsigned char byte;

INLINE uint64_t swap_bytes(uint64_t word) {
#if defined(_MSC_VER)
    return _byteswap_uint64(word);
#else
    return __builtin_bswap64(word);
#endif
}

INLINE int is_white(byte character) { return character == ' ' || (byte)(character - '\t') <= 4; }

/* Eight bytes, the first of which is the lowest. */
INLINE uint64_t load_word(const byte *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return BIG_ENDIAN_MACHINE ? swap_bytes(word) : word;
}

/* The first `length` bytes of a word; all of them from eight on. */
INLINE uint64_t keep_bytes(uint64_t word, size_t length) {
    return length >= 8 ? word : word & (((uint64_t)1 << (8 * length)) - 1);
}

INLINE int lowest_bit(uint64_t word) {
#if defined(_MSC_VER)
    unsigned long at;
    _BitScanForward64(&at, word);
    return (int)at;
#else
    return __builtin_ctzll(word);
#endif
}

INLINE int leading_zeros(uint64_t word) {
#if defined(_MSC_VER)
    unsigned long at;
    _BitScanReverse64(&at, word);
    return 63 - (int)at;
#else
    return __builtin_clzll(word);
#endif
}

INLINE int count_bits(uint64_t word) {
#if defined(_MSC_VER)
    word -= (word >> 1) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
    return (int)(((word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
#else
    return __builtin_popcountll(word);
#endif
}

/* The product of two words: its low half is returned, its high half stored. */
INLINE uint64_t multiply(uint64_t one, uint64_t other, uint64_t *high) {
#if defined(__SIZEOF_INT128__)
    unsigned __int128 product = (unsigned __int128)one * other;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
#else
    uint64_t a = one >> 32, b = (uint32_t)one, c = other >> 32, d = (uint32_t)other;
    uint64_t low = b * d, middle = a * d + (low >> 32), cross = b * c + (uint32_t)middle;
    *high = a * c + (middle >> 32) + (cross >> 32);
    return (cross << 32) | (uint32_t)low;
#endif
}

/* -- tokens.c: where white space is ------------------------------------------------------------------------------- */

#define WINDOW_WORDS 64 /* groups of 64 bytes looked at together */
#define POSITIONS (WINDOW_WORDS * 64 + 16)

/* The positions of white space, found as a text is walked through; at the end one more, behind the last line. */
typedef struct {
    const byte *text;
    uint32_t size, searched;  /* the size of the text, and how much of it was searched */
    uint32_t next, count;     /* the next position to use, and the number of those found */
    int is_ended;             /* whether the end of the text was added */
    int is_avx2;              /* whether the processor is a newer one */
    uint64_t has_odd;         /* whether there are bytes that are neither visible ASCII nor white space */
    uint64_t has_runs;        /* whether white space follows white space, or begins the text */
    uint64_t carried;         /* whether the last byte searched is white space */
    uint32_t positions[POSITIONS];
} Blanks;

static void blanks_begin(Blanks *blanks, const byte *text, uint32_t size);
static void blanks_find(Blanks *blanks);

/* At least `wanted` (at most 8) positions ahead, unless the text ends before. */
INLINE uint32_t blanks_ahead(Blanks *blanks, uint32_t wanted) {
    while (!LIKELY(blanks->count - blanks->next >= wanted) && !blanks->is_ended) blanks_find(blanks);
    return blanks->count - blanks->next;
}

/* One line: its first columns, and how many it really has. */
typedef struct {
    uint32_t begin[RUN_COLUMNS], end[RUN_COLUMNS];
    uint32_t count;
} Line;

/* Read the next line that is not blank; `lines` counts all lines. Returns 0 at the end of the text. */
static int next_line(Blanks *blanks, uint32_t *at, uint32_t columns, Line *line, uint64_t *lines);

/* Where the columns of a text end, one column after the other, if every line has this many with one white-space byte
   between them, and there are as many lines as expected; 0 if not, or if there are bytes that need a closer look. -1: memory is short. */
static int split_regular(const byte *text, uint32_t size, uint32_t columns, int64_t *ends, uint64_t rows);

/* The column behind another one. More columns follow, so that both loops end. */
INLINE const byte *next_column(const byte *behind, uint32_t *length) {
    const byte *begin = behind, *end;
    while (is_white(*begin)) begin++;
    for (end = begin; !is_white(*end);) end++;
    *length = (uint32_t)(end - begin);
    return begin;
}

/* -- decimals.c: numbers ------------------------------------------------------------------------------------------- */

typedef enum { DECIMAL_OK, DECIMAL_BAD, DECIMAL_HARD } DecimalStatus;

/* A number as it is written: ±number × 10^power. */
typedef struct {
    int16_t power;
    int8_t status, is_negative;
} DecimalForm;

typedef struct {
    uint64_t number;
    DecimalForm form;
} Decimal;

/* Reading a number, and finding the double nearest to it, are apart, so that many divisions can run at once. HARD: a
   number that this code leaves to Python's float. */
INLINE Decimal decimal_read(const byte *text, uint32_t length);
INLINE int decimal_is_usual(Decimal read);
INLINE double decimal_usual_value(Decimal read);
static DecimalStatus decimal_value(Decimal read, double *value);
static int decimal_is_infinite(const byte *text, uint32_t length);

/* -- ids.c: texts that are compared as bytes ----------------------------------------------------------------------- */

INLINE uint64_t id_hash(const byte *text, uint32_t length, uint64_t seed);
static int id_order(const byte *one, uint32_t length, const byte *other, uint32_t other_length);
static int id_is_invisible(const byte *text, uint32_t length);

/* The order of tied documents, from the order of their ids: descending, as `order_ties` in core/ranking.py has it. */
INLINE int tie_order(int order) { return (order < 0) - (order > 0); }

INLINE int id_same(const byte *one, const byte *other, uint32_t length) {
    while (length > 8) {
        if (load_word(one) != load_word(other)) return 0;
        one += 8, other += 8, length -= 8;
    }
    return keep_bytes(load_word(one) ^ load_word(other), length) == 0;
}

/* A column of ids over one buffer; the lists belong to the caller. */
typedef struct {
    const byte *text;
    const int64_t *start, *length;
    int64_t count;
} Column;

/* Whether two ids of the same group are the same. -1: memory is short. */
static int has_repeated(const Column *ids, const int64_t *group, uint64_t seed);

/* -- sort.c ---------------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t key;
    uint32_t row;
} Keyed;

/* Keys in the order of numbers, descending or ascending; both zeros are equal. */
static uint64_t key_of_double(double value);
static uint64_t key_of_float(float value);
static void sort_keyed(Keyed *items, Keyed *spare, uint32_t count);

/* -- join.c: the rows of one query, and the judged ones among them -------------------------------------------------- */

/* A row. Its numbers follow one another in time: where the score is, how it reads, what it is. */
typedef struct {
    union {
        struct {
            uint32_t begin, length;
        } text;
        uint64_t number;
        double score;
    };
    uint32_t doc, doc_length; /* in the text of the block */
    DecimalForm form;         /* with `number` */
} Row;

typedef struct {
    int64_t query, rank, tie_first, tie_last, ordinal;
} Hit;

typedef struct {
    const byte *text;
    Row *rows;
    uint32_t count;
    int64_t query;                 /* the number of a judged query, or -1 */
    int is_increasing;             /* whether a score is higher than the one before it */
    int is_strict;                 /* whether the scores strictly decrease, in the precision in which they are compared */
    int has_decreasing_ranks;      /* whether one of the sampled ranks is lower than the one before it */
} QueryRows;

typedef enum { JOIN_OK, JOIN_ODD, JOIN_MEMORY } JoinStatus;

typedef struct {
    Column queries, docs;          /* the judged queries; the judged documents by query … */
    const int64_t *offsets;        /* … and where those of each query begin */
    int in_doubles;                /* whether scores are compared as doubles, not as floats */
    uint32_t max_id;               /* bytes */
    uint64_t seed;
    uint32_t *query_table;         /* judged queries by their hash: number + 1 */
    uint64_t query_mask;
    Row *rows;
    uint32_t row_room;
    uint32_t *table;               /* documents of a query: a part of the hash, and an index + 1 */
    uint64_t table_room;
    Keyed *keyed;                  /* three lists of this many */
    uint32_t keyed_room;
    Hit *hits;
    uint64_t hit_count, hit_room;
} Join;

/* -- block.c and scattered.c: the lines of a block, query by query ------------------------------------------------------------------- */

/* What Python's float makes of a number that decimals.c leaves to it; 0 if it raised. */
typedef int (*HardDecimal)(void *context, const byte *text, uint32_t length, double *value);

typedef struct {
    int64_t begin, length, number, rows; /* of its id in the text; its number among the judged ones or -1; its size */
    int64_t resumed;                     /* the line on which it resumes after other queries, if it does */
    int64_t first;                       /* the place of its first row among the rows, if queries are scattered */
} FoundQuery;

typedef struct {
    const byte *text;
    uint32_t size;
    int is_last;                   /* whether the file ends here; otherwise the last query may continue */
    int is_scattered;              /* whether the rows of a query may be anywhere, and all of them are in the text */
    HardDecimal hard;
    void *context;
    FoundQuery *queries;
    uint32_t query_count, query_room;
    uint32_t used;                 /* the bytes of the complete queries … */
    uint64_t lines, rows;          /* … their lines and rows */
    uint32_t tag, tag_length;      /* on the last line of the file */
} Block;

typedef enum { BLOCK_OK, BLOCK_ODD, BLOCK_MEMORY, BLOCK_RAISED } BlockStatus;

static int grow(void **list, uint64_t count, size_t item);
static BlockStatus scan_block(Join *join, Block *block);

static int join_prepare(Join *join);
static void join_free(Join *join);
static int64_t join_query_number(const Join *join, const byte *text, uint32_t length);
static int join_grow_rows(Join *join, uint64_t rows);
static JoinStatus join_query(Join *join, const QueryRows *query);

#endif
