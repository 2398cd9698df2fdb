/* Sorting by 64-bit keys, stable: one byte at a time from the lowest, leaving out bytes that all keys share. */

#include "scanner.h"

#define INSERTION_SORT_BELOW 48

static uint64_t key_of_double(double value) {
    uint64_t bits;
    value += 0.0; /* minus zero becomes zero */
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | ((uint64_t)1 << 63);
}

static uint64_t key_of_float(float value) {
    uint32_t bits;
    value += 0.0f;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 31 ? (uint32_t)~bits : bits | ((uint32_t)1 << 31);
}

static void sort_few(Keyed *items, uint32_t count) {
    for (uint32_t at = 1; at < count; at++) {
        Keyed item = items[at];
        uint32_t to = at;
        for (; to && items[to - 1].key > item.key; to--) items[to] = items[to - 1];
        items[to] = item;
    }
}

static void sort_keyed(Keyed *items, Keyed *spare, uint32_t count) {
    if (count <= INSERTION_SORT_BELOW) {
        sort_few(items, count);
        return;
    }
    uint64_t same_ones = ~(uint64_t)0, any_ones = 0;
    for (uint32_t at = 0; at < count; at++) same_ones &= items[at].key, any_ones |= items[at].key;
    uint64_t differing = same_ones ^ any_ones;
    Keyed *from = items, *to = spare;
    for (int shift = 0; shift < 64; shift += 8) {
        if (!((differing >> shift) & 0xFF)) continue;
        uint32_t begin[257] = {0};
        for (uint32_t at = 0; at < count; at++) begin[((from[at].key >> shift) & 0xFF) + 1]++;
        for (int digit = 0; digit < 256; digit++) begin[digit + 1] += begin[digit];
        for (uint32_t at = 0; at < count; at++) to[begin[(from[at].key >> shift) & 0xFF]++] = from[at];
        Keyed *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != items) memcpy(items, from, count * sizeof *items);
}
