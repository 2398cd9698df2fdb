/* Ids: hashed, compared and ordered as bytes. A hash only narrows a search; equality of the bytes decides. */

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

/* Whether an id has an invisible character: the list is that of io/checks/invisible.py. */
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
