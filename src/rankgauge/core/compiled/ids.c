/* Ids: hashed, compared and ordered as bytes. A hash only narrows a search; equality of the bytes decides. */

#include <stdlib.h>

#include "scanner.h"

#define MIX 0x9E3779B97F4A7C15u
#define STIR 0xD1B54A32D192ED03u

INLINE uint64_t fold(uint64_t one, uint64_t other) {
    uint64_t high, low = multiply(one, other, &high);
    return high ^ low;
}

INLINE uint64_t id_hash(const byte *text, uint32_t length, uint64_t seed) {
    uint64_t hash = seed ^ (length * (uint64_t)MIX);
    while (length > 8) {
        hash = fold(hash ^ load_word(text), STIR) + MIX;
        text += 8, length -= 8;
    }
    hash = fold(hash ^ keep_bytes(load_word(text), length), STIR);
    return hash ^ (hash >> 32);
}

/* Below 0, 0 or above 0: the order of bytes, a shorter id before a longer one that begins with it. */
static int id_order(const byte *one, uint32_t length, const byte *other, uint32_t other_length) {
    uint32_t shared = length < other_length ? length : other_length;
    while (shared >= 8) {
        uint64_t here = load_word(one), there = load_word(other);
        if (here != there) return swap_bytes(here) < swap_bytes(there) ? -1 : 1;
        one += 8, other += 8, shared -= 8;
    }
    uint64_t here = swap_bytes(keep_bytes(load_word(one), shared)), there = swap_bytes(keep_bytes(load_word(other), shared));
    if (here != there) return here < there ? -1 : 1;
    return (length > other_length) - (length < other_length);
}

INLINE int is_plain(uint64_t word) { /* eight bytes of visible ASCII */
    return ((word | (word - 0x2020202020202020u) | (word + 0x0101010101010101u)) & 0x8080808080808080u) == 0;
}

/* Whether an id has an invisible character: the list is that of io/row_checks.py. */
static int id_is_invisible(const byte *text, uint32_t length) {
    uint32_t at = 0;
    while (at + 8 <= length && is_plain(load_word(text + at))) at += 8;
    for (; at < length; at++) {
        byte one = text[at], two = at + 1 < length ? text[at + 1] : 0, three = at + 2 < length ? text[at + 2] : 0;
        if (one >= 0x20 && one < 0x7F) continue;
        if (one <= 0x7F) return 1;
        if (one == 0xC2 && ((two >= 0x80 && two <= 0xA0) || two == 0xAD)) return 1;
        if (one == 0xE2 && two == 0x80 && ((three >= 0x80 && three <= 0x8F) || (three >= 0xA8 && three <= 0xAF))) return 1;
        if (one == 0xE2 && two == 0x81 && three >= 0x9F && three <= 0xAF) return 1;
        if (one == 0xE3 && two == 0x80 && three == 0x80) return 1;
        if (one == 0xEF && two == 0xBB && three == 0xBF) return 1;
    }
    return 0;
}

static uint64_t table_for(int64_t ids) {
    uint64_t size = 64;
    while (size < 2 * (uint64_t)ids) size *= 2;
    return size;
}

/* The same among some rows, with a table of their own. */
static int repeats_among(const Column *ids, const int64_t *group, int64_t first, int64_t end, uint64_t seed, uint32_t *table) {
    uint64_t size = table_for(end - first);
    memset(table, 0, (size_t)size * sizeof *table);
    for (int64_t row = first; row < end; row++) {
        const byte *text = ids->text + ids->start[row];
        uint32_t length = (uint32_t)ids->length[row];
        uint64_t at = id_hash(text, length, fold(seed ^ (uint64_t)group[row], MIX)) & (size - 1);
        for (; table[at]; at = (at + 1) & (size - 1)) {
            int64_t other = first + table[at] - 1;
            if (group[other] == group[row] && ids->length[other] == length &&
                id_same(ids->text + ids->start[other], text, length))
                return 1;
        }
        table[at] = (uint32_t)(row - first) + 1;
    }
    return 0;
}

/* Rows whose groups ascend are looked at group by group, in a small table; others all at once. */
static int has_repeated(const Column *ids, const int64_t *group, uint64_t seed) {
    int64_t largest = 0, begin = 0;
    for (int64_t row = 1; row <= ids->count; row++) {
        if (row < ids->count && group[row] == group[begin]) continue;
        if (row - begin > largest) largest = row - begin;
        if (row < ids->count && group[row] < group[begin]) {
            largest = -1;
            break;
        }
        begin = row;
    }
    uint32_t *table = malloc((size_t)table_for(largest < 0 ? ids->count : largest) * sizeof *table);
    if (!table) return -1;
    int is_repeated = largest < 0 && repeats_among(ids, group, 0, ids->count, seed, table);
    for (int64_t first = 0, row = 1; largest > 0 && !is_repeated && row <= ids->count; row++)
        if (row == ids->count || group[row] != group[first]) {
            is_repeated = repeats_among(ids, group, first, row, seed, table);
            first = row;
        }
    free(table);
    return is_repeated;
}
