/* Decimal numbers, exact: the double nearest to what is written, as C's strtod and Python's float give it.

   The usual number has up to 16 characters: its digits are read eight at a time from words. With a mantissa below 2^53
   and a power of ten up to 10^22 both are exact as doubles, so that one division rounds once. Any other number of up to
   19 digits with a power from 10^-27 to 10^27 is divided or multiplied in whole numbers of 128 bits and rounded by hand.
   What is left (longer, or with larger powers) is for Python. */

#include "scanner.h"

#include <float.h>

#define ZEROS 0x3030303030303030u
#define DOTS 0x2E2E2E2E2E2E2E2Eu
#define ONE_EACH 0x0101010101010101u
#define HIGH_BITS 0x8080808080808080u
#define OVER 0x4646464646464646u /* brings '9' to 0x7F and all above it to the high bit */
#define MAX_DIGITS 19
#define MAX_POWER 27
#define MAX_EXPONENT 10000
#define MAX_DOUBLE_POWER 22

static const double POWERS_OF_TEN[MAX_DOUBLE_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const uint64_t POWERS_OF_FIVE[MAX_POWER + 1] = {
    1u,
    5u,
    25u,
    125u,
    625u,
    3125u,
    15625u,
    78125u,
    390625u,
    1953125u,
    9765625u,
    48828125u,
    244140625u,
    1220703125u,
    6103515625u,
    30517578125u,
    152587890625u,
    762939453125u,
    3814697265625u,
    19073486328125u,
    95367431640625u,
    476837158203125u,
    2384185791015625u,
    11920928955078125u,
    59604644775390625u,
    298023223876953125u,
    1490116119384765625u,
    7450580596923828125u};

INLINE int are_digits(uint64_t word) { return (((word + OVER) | (word - ZEROS)) & HIGH_BITS) == 0; }

/* Eight ASCII digits as a number. */
INLINE uint64_t eight_digits(uint64_t word) {
    word -= ZEROS;
    word = word * 10 + (word >> 8);
    return ((word & 0x000000FF000000FFu) * 0x000F424000000064u +
            ((word >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >>
           32;
}

/* The high bit of the lowest byte that is a point, or 0. */
INLINE uint64_t lowest_dot(uint64_t word) {
    uint64_t difference = word ^ DOTS, dots = (difference - ONE_EACH) & ~difference & HIGH_BITS;
    return dots & (~dots + 1);
}

static double double_of_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* high × 2^exponent, rounded to the nearest double, half to even; the top bit of `high` is set, and `is_more` says
   whether something is left below it. The exponent keeps the result far from the limits of a double. */
static double round_to_double(uint64_t high, int is_more, int exponent) {
    uint64_t mantissa = high >> 11, dropped = high & 0x7FF;
    mantissa += dropped > 0x400 || (dropped == 0x400 && (is_more || (mantissa & 1)));
    if (mantissa >> 53) mantissa >>= 1, exponent++;
    return double_of_bits(((uint64_t)(exponent + 11 + 52 + 1023) << 52) | (mantissa & (((uint64_t)1 << 52) - 1)));
}

/* high × 2^64 divided by a divisor whose top bit is set and which is larger than high. */
INLINE uint64_t divide(uint64_t high, uint64_t divisor, uint64_t *rest) {
#if defined(__SIZEOF_INT128__)
    unsigned __int128 number = (unsigned __int128)high << 64;
    *rest = (uint64_t)(number % divisor);
    return (uint64_t)(number / divisor);
#else
    /* Two digits of 32 bits, by the schoolbook method: an estimate is at most two too large. */
    uint64_t quotient = 0, top = divisor >> 32, bottom = (uint32_t)divisor;
    for (int step = 0; step < 2; step++) {
        uint64_t digit = high / top, left = high % top;
        while (digit >> 32 || digit * bottom > (left << 32)) {
            digit--;
            left += top;
            if (left >> 32) break;
        }
        high = (high << 32) - digit * divisor;
        quotient = (quotient << 32) | digit;
    }
    *rest = high;
    return quotient;
#endif
}

/* number × 10^power for any number but 0, and powers within the table. */
NOINLINE static double scale(uint64_t number, int power) {
    int shift = leading_zeros(number);
    number <<= shift;
    if (power >= 0) {
        uint64_t high, low = multiply(number, POWERS_OF_FIVE[power], &high);
        int exponent = power - shift + 64;
        if (!high) return round_to_double(low, 0, exponent - 64); /* only by 5^0 */
        int up = leading_zeros(high);
        if (up) high = (high << up) | (low >> (64 - up)), low <<= up;
        return round_to_double(high, low != 0, exponent - up);
    }
    uint64_t divisor = POWERS_OF_FIVE[-power], rest;
    int up = leading_zeros(divisor);
    divisor <<= up;
    /* number / divisor is between 1/2 and 2: halved it is a fraction, whose 64 bits are the quotient. */
    uint64_t odd = number & 1, quotient = divide(number >> 1, divisor, &rest);
    int exponent = power - shift + up - 63, is_more = rest != 0;
    if (odd) { /* the bit that halving lost is worth 2^63 / divisor, at least half a unit and less than one */
        uint64_t half = (uint64_t)1 << 63;
        uint64_t sum = rest + half, is_carried = sum < half || sum >= divisor;
        if (is_carried) quotient++, sum -= divisor;
        is_more = sum != 0;
    }
    int normal = leading_zeros(quotient);
    return round_to_double(quotient << normal, is_more, exponent - normal);
}

/* The value of what was read. */
static DecimalStatus decimal_value(Decimal read, double *value) {
    double size;
    int power = read.form.power;
    if (read.form.status != DECIMAL_OK) return (DecimalStatus)read.form.status;
    if (!read.number)
        size = 0.0;
    else if (power < -MAX_POWER || power > MAX_POWER)
        return DECIMAL_HARD;
    else
        size = scale(read.number, power);
    *value = read.form.is_negative ? -size : size;
    return DECIMAL_OK;
}

/* Whether a number is exact as a double and is divided by an exact power. */
INLINE int decimal_is_usual(Decimal read) {
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0
    return read.number < ((uint64_t)1 << 53) && (uint32_t)-read.form.power <= MAX_DOUBLE_POWER &&
           read.form.status == DECIMAL_OK;
#else
    (void)read;
    return 0;
#endif
}

INLINE double decimal_usual_value(Decimal read) {
    double size = (double)(int64_t)read.number / POWERS_OF_TEN[-read.form.power];
    return read.form.is_negative ? -size : size;
}

INLINE Decimal decimal_parts(DecimalStatus status, uint64_t number, int power, int is_negative) {
    Decimal read = {number, {(int16_t)power, (int8_t)status, (int8_t)is_negative}};
    return read;
}

/* Digits, perhaps a point, perhaps an exponent; the sign is gone. */
NOINLINE static Decimal read_any(const byte *text, uint32_t length, int is_negative) {
    uint64_t number = 0;
    int64_t power = 0;
    uint32_t at = 0, digits = 0, seen = 0;
    int has_point = 0;
    for (; at < length; at++) {
        byte digit = (byte)(text[at] - '0');
        if (digit <= 9) {
            seen = 1;
            if (digits || digit) digits++;
            if (digits <= MAX_DIGITS) number = number * 10 + digit, power -= has_point;
        } else if (text[at] == '.' && !has_point) {
            has_point = 1;
        } else {
            break;
        }
    }
    if (!seen) return decimal_parts(DECIMAL_BAD, 0, 0, 0);
    if (at < length) {
        if ((text[at] | 0x20) != 'e') return decimal_parts(DECIMAL_BAD, 0, 0, 0);
        int is_down = 0;
        int64_t exponent = 0;
        at++;
        if (at < length && (text[at] == '+' || text[at] == '-')) is_down = text[at++] == '-';
        if (at == length) return decimal_parts(DECIMAL_BAD, 0, 0, 0);
        for (; at < length; at++) {
            byte digit = (byte)(text[at] - '0');
            if (digit > 9) return decimal_parts(DECIMAL_BAD, 0, 0, 0);
            if (exponent < 100000) exponent = exponent * 10 + digit;
        }
        power += is_down ? -exponent : exponent;
    }
    if (digits > MAX_DIGITS) return decimal_parts(DECIMAL_HARD, 0, 0, 0);
    if (!number) power = 0;
    if (power < -MAX_EXPONENT || power > MAX_EXPONENT) return decimal_parts(DECIMAL_HARD, 0, 0, 0);
    return decimal_parts(DECIMAL_OK, number, (int)power, is_negative);
}

/* Close the gap that the point leaves: the characters before it move up, with one more before them. */
INLINE uint64_t without_dot(uint64_t word, uint64_t dot, uint64_t before) {
    return (word & ~((dot << 1) - 1)) | ((word & ((dot >> 7) - 1)) << 8) | before;
}

INLINE int digits_after(uint64_t dot) { return 7 - (lowest_bit(dot) >> 3); }

/* Up to 16 characters, digits and perhaps a point; the sign is gone. 0 if it is something else. */
INLINE int read_plain(const byte *text, uint32_t length, uint64_t *number, int *power) {
    uint64_t dot, word;
    if (LIKELY(length <= 9)) { /* at most eight digits and a point, which is not the first of nine characters */
        uint64_t before = '0';
        if (length == 9) {
            before = *text;
            word = load_word(text + 1);
        } else {
            if (length < 2) return 0;
            word = load_word(text) << (8 * (8 - length));
            if (length < 8) word |= (uint64_t)ZEROS >> (8 * length);
        }
        dot = lowest_dot(word);
        if (!LIKELY(dot != 0)) return 0;
        word = without_dot(word, dot, before);
        *number = eight_digits(word);
        *power = -digits_after(dot);
        return are_digits(word);
    }
    if (length > 16) return 0;
    uint64_t first = load_word(text);
    word = load_word(text + length - 8);
    if (length < 16) first = (first << (8 * (16 - length))) | (ZEROS >> (8 * (length - 8)));
    if ((dot = lowest_dot(first)) != 0) {
        first = without_dot(first, dot, '0');
        *power = -8 - digits_after(dot);
    } else if ((dot = lowest_dot(word)) != 0) {
        word = without_dot(word, dot, first >> 56);
        first = (first << 8) | '0';
        *power = -digits_after(dot);
    } else {
        *power = 0;
    }
    *number = eight_digits(first) * 100000000u + eight_digits(word);
    return are_digits(first) && are_digits(word);
}

/* The usual exponent has a sign and two digits, as in 1.704623e+01; anything else is read character by character. */
NOINLINE static Decimal read_other(const byte *text, uint32_t length, int is_negative) {
    if (length > 5 && (text[length - 4] | 0x20) == 'e' && (text[length - 3] == '-' || text[length - 3] == '+')) {
        byte tens = (byte)(text[length - 2] - '0'), ones = (byte)(text[length - 1] - '0');
        uint64_t number;
        int power, exponent = 10 * tens + ones;
        if (tens <= 9 && ones <= 9 && read_plain(text, length - 4, &number, &power))
            return decimal_parts(DECIMAL_OK, number, power + (text[length - 3] == '-' ? -exponent : exponent), is_negative);
    }
    return read_any(text, length, is_negative);
}

INLINE Decimal decimal_read(const byte *text, uint32_t length) {
    int is_negative = 0, power;
    uint64_t number;
    if (length && (*text == '-' || *text == '+')) is_negative = *text == '-', text++, length--;
    if (LIKELY(read_plain(text, length, &number, &power))) return decimal_parts(DECIMAL_OK, number, power, is_negative);
    return read_other(text, length, is_negative);
}

static int decimal_is_infinite(const byte *text, uint32_t length) {
    static const char word[] = "infinity";
    if (length && (*text == '-' || *text == '+')) text++, length--;
    if (length != 3 && length != 8) return 0;
    for (uint32_t at = 0; at < length; at++)
        if ((text[at] | 0x20) != (byte)word[at] || text[at] < 'A') return 0;
    return 1;
}
