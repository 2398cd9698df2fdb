/* White space, found 64 bytes at a time: one bit a byte, then a list of positions, then the columns of a line.

   White space is C's: space, tab, newline, vertical tab, form feed, carriage return; only a newline ends a line. */

#include <stdlib.h>

#include "scanner.h"

#define USUAL_BLANKS 12

#if defined(__SSE2__) && defined(__x86_64__) && defined(__GNUC__)
#define HAS_AVX2_CODE /* used if the processor has these instructions */
#endif

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>

/* One bit for each of 64 bytes that is white space; *odd collects what is neither that nor visible ASCII. */
INLINE uint64_t blanks_of(const byte *text, uint64_t *odd) {
    const __m128i space = _mm_set1_epi8(' '), tab = _mm_set1_epi8('\t'), four = _mm_set1_epi8(4);
    const __m128i one = _mm_set1_epi8(1), first_visible = _mm_set1_epi8(0x21);
    __m128i all_odd = _mm_setzero_si128();
    uint64_t white = 0;
    for (int part = 0; part < 4; part++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text + 16 * part));
        __m128i shifted = _mm_sub_epi8(bytes, tab); /* white space other than a space is 0 … 4 now */
        __m128i is_blank =
            _mm_or_si128(_mm_cmpeq_epi8(bytes, space), _mm_cmpeq_epi8(_mm_min_epu8(shifted, four), shifted));
        /* With one added, DELETE and all that is not ASCII are below the visible characters, as signed bytes. */
        __m128i is_odd = _mm_cmplt_epi8(_mm_add_epi8(bytes, one), first_visible);
        all_odd = _mm_or_si128(all_odd, _mm_andnot_si128(is_blank, is_odd));
        white |= (uint64_t)(uint32_t)_mm_movemask_epi8(is_blank) << (16 * part);
    }
    *odd |= (uint32_t)_mm_movemask_epi8(all_odd);
    return white;
}
#else
INLINE uint64_t blanks_of(const byte *text, uint64_t *odd) {
    uint64_t white = 0;
    for (int at = 0; at < 64; at++) {
        int is_blank = is_white(text[at]);
        white |= (uint64_t)is_blank << at;
        *odd |= !is_blank && (text[at] < 0x20 || text[at] >= 0x7F);
    }
    return white;
}
#endif

static void blanks_begin(Blanks *blanks, const byte *text, uint32_t size) {
    blanks->text = text;
    blanks->size = size;
    blanks->searched = blanks->next = blanks->count = 0;
    blanks->is_ended = 0;
    blanks->has_odd = blanks->has_runs = 0;
    blanks->carried = 1; /* the text begins as if a newline were before it */
#ifdef HAS_AVX2_CODE
    blanks->is_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
#endif
}

/* Append the positions of some bits, of which there may be fewer: what is written too much is overwritten next. */
INLINE uint64_t append_some(uint32_t *to, uint64_t white, uint32_t at, int some) {
    for (int k = 0; k < some; k++) {
        to[k] = at + (uint32_t)lowest_bit(white | ((uint64_t)1 << 63));
        white &= white - 1;
    }
    return white;
}

/* Append the positions of all bits. Usual lines have at most twelve blanks in 64 bytes, so that one test is enough. */
INLINE uint32_t append_positions(uint32_t *out, uint32_t count, uint64_t white, uint32_t at) {
    uint32_t *to = out + count;
    int found = count_bits(white);
    white = append_some(to, white, at, USUAL_BLANKS);
    for (int written = USUAL_BLANKS; written < found; written += 4) white = append_some(to + written, white, at, 4);
    return count + (uint32_t)found;
}

/* The positions that are not used yet come first. Fewer than 8 are kept, and 64 a group are added: with the few that
   are written too much they fit. */
INLINE void keep_unused(Blanks *blanks) {
    uint32_t kept = blanks->count - blanks->next;
    memmove(blanks->positions, blanks->positions + blanks->next, kept * sizeof *blanks->positions);
    blanks->next = 0;
    blanks->count = kept;
}

/* The last part of the text, which is shorter than a group. */
static void find_rest(Blanks *blanks) {
    uint32_t at = blanks->searched, left = blanks->size - at;
    byte rest[64];
    memset(rest, 'x', sizeof rest);
    memcpy(rest, blanks->text + at, left);
    uint64_t white = blanks_of(rest, &blanks->has_odd);
    blanks->searched = blanks->size;
    blanks->has_runs |= white & ((white << 1) | blanks->carried);
    blanks->carried = white >> 63;
    blanks->count = append_positions(blanks->positions, blanks->count, white, at);
    blanks->is_ended = 1;
    if (blanks->size && blanks->text[blanks->size - 1] != '\n') blanks->positions[blanks->count++] = blanks->size;
}

/* As many whole groups as are left, at most `groups`. */
static void find_groups(Blanks *blanks, uint32_t groups) {
    for (; groups; groups--) {
        uint32_t at = blanks->searched;
        uint64_t white = blanks_of(blanks->text + at, &blanks->has_odd);
        blanks->searched = at + 64;
        blanks->has_runs |= white & ((white << 1) | blanks->carried);
        blanks->carried = white >> 63;
        blanks->count = append_positions(blanks->positions, blanks->count, white, at);
    }
}

#ifdef HAS_AVX2_CODE
#include <immintrin.h>

/* The same on a newer processor, which is asked for these instructions at run time. */
__attribute__((target("avx2,bmi,popcnt"))) static void find_groups_avx2(Blanks *blanks, uint32_t groups) {
    /* By its lowest four bits, the white space that a byte could be; a byte that is not ASCII could be none. */
    const __m256i could_be = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(' ', -1, -1, -1, -1, -1, -1, -1, -1, '\t', '\n', '\v', '\f', '\r', -1, -1));
    const __m256i one = _mm256_set1_epi8(1), first_visible = _mm256_set1_epi8(0x21);
    __m256i odd = _mm256_setzero_si256();
    const byte *text = blanks->text;
    uint32_t at = blanks->searched, *to = blanks->positions + blanks->count;
    uint64_t runs = blanks->has_runs, carried = blanks->carried;
    for (; groups; groups--, at += 64) {
        __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)(text + at));
        __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(text + at + 32));
        __m256i low_white = _mm256_cmpeq_epi8(low, _mm256_shuffle_epi8(could_be, low));
        __m256i high_white = _mm256_cmpeq_epi8(high, _mm256_shuffle_epi8(could_be, high));
        uint64_t white = (uint32_t)_mm256_movemask_epi8(low_white) |
                         (uint64_t)(uint32_t)_mm256_movemask_epi8(high_white) << 32;
        /* As in blanks_of. */
        __m256i low_odd = _mm256_andnot_si256(low_white, _mm256_cmpgt_epi8(first_visible, _mm256_add_epi8(low, one)));
        __m256i high_odd = _mm256_andnot_si256(high_white, _mm256_cmpgt_epi8(first_visible, _mm256_add_epi8(high, one)));
        odd = _mm256_or_si256(odd, _mm256_or_si256(low_odd, high_odd));
        runs |= white & ((white << 1) | carried);
        carried = white >> 63;
        int found = _mm_popcnt_u64(white);
        uint32_t *out = to;
        to += found;
        for (int written = 0; written < USUAL_BLANKS; written++, white = _blsr_u64(white))
            out[written] = at + (uint32_t)_tzcnt_u64(white); /* 64 if no bit is left */
        for (int written = USUAL_BLANKS; written < found; written++, white = _blsr_u64(white))
            out[written] = at + (uint32_t)_tzcnt_u64(white);
    }
    blanks->has_odd |= (uint32_t)_mm256_movemask_epi8(odd);
    blanks->has_runs = runs;
    blanks->carried = carried;
    blanks->searched = at;
    blanks->count = (uint32_t)(to - blanks->positions);
}
#endif

/* Keep the positions that were not used yet and add those of the next part of the text. */
static void blanks_find(Blanks *blanks) {
    keep_unused(blanks);
    uint32_t groups = (blanks->size - blanks->searched) / 64;
    if (groups > WINDOW_WORDS - 1) groups = WINDOW_WORDS - 1;
    if (!groups) {
        find_rest(blanks);
        return;
    }
#ifdef HAS_AVX2_CODE
    if (blanks->is_avx2) {
        find_groups_avx2(blanks, groups);
        return;
    }
#endif
    find_groups(blanks, groups);
}

static int next_line(Blanks *blanks, uint32_t *at, uint32_t columns, Line *line, uint64_t *lines) {
    uint32_t begin = *at, count = 0;
    for (;;) {
        if (!blanks_ahead(blanks, 1)) {
            *at = begin;
            return 0;
        }
        uint32_t end = blanks->positions[blanks->next++];
        if (end > begin) {
            if (count < columns) line->begin[count] = begin, line->end[count] = end;
            count++;
        }
        begin = end + 1;
        if (end < blanks->size && blanks->text[end] != '\n') continue;
        (*lines)++;
        if (count) break;
    }
    *at = begin;
    line->count = count;
    return 1;
}

static int split_regular(const byte *text, uint32_t size, uint32_t columns, int64_t *ends, uint64_t rows) {
    uint64_t row = 0;
    uint32_t column = 0;
    Blanks *blanks = malloc(sizeof *blanks);
    if (!blanks) return -1;
    blanks_begin(blanks, text, size);
    int is_regular = size && text[size - 1] == '\n';
    while (is_regular && blanks_ahead(blanks, 1)) {
        uint32_t found = blanks->count - blanks->next;
        is_regular = !blanks->has_runs && !blanks->has_odd;
        for (uint32_t at = 0; is_regular && at < found; at++) {
            uint32_t end = blanks->positions[blanks->next + at];
            int is_last = column == columns - 1;
            if ((text[end] == '\n') != is_last || row == rows) {
                is_regular = 0;
                break;
            }
            ends[column * rows + row] = end;
            column = is_last ? 0 : column + 1;
            row += (uint64_t)is_last;
        }
        blanks->next = blanks->count;
    }
    is_regular = is_regular && row == rows && !column;
    free(blanks);
    return is_regular;
}
