/* JSON as Python's decoder accepts it: texts, numbers and values that are only skipped.

   The text ends with a NUL byte, which no value contains, so that nothing is read behind it. What is not certainly JSON
   here (deep nesting, integers of hundreds of digits, NaN) is left to Python, which says what is wrong with it. */

#include "scanner.h"

#define MAX_DEPTH 64
#define MAX_NUMBER 300 /* bytes; Python does not convert every longer integer to a float, or at all */

typedef enum { JSON_MISSING, JSON_NULL, JSON_TRUE, JSON_FALSE, JSON_INTEGER, JSON_REAL, JSON_TEXT, JSON_NESTED } JsonType;

typedef struct {
    const byte *begin, *end; /* of a text without its quotation marks */
    JsonType type;
    int has_escapes;
} JsonValue;

typedef struct {
    const byte *at;
    int has_lines; /* whether a newline is white space, not the end of the text */
} Json;

INLINE void json_blanks(Json *json) {
    while (*json->at == ' ' || *json->at == '\t' || *json->at == '\r' || (json->has_lines && *json->at == '\n')) json->at++;
}

INLINE int json_is(Json *json, byte character) {
    if (*json->at != character) return 0;
    json->at++;
    return 1;
}

static int hex_digit(byte character) {
    if ((byte)(character - '0') <= 9) return character - '0';
    character |= 0x20;
    return (byte)(character - 'a') <= 5 ? character - 'a' + 10 : -1;
}

static int hex_number(const byte *at) {
    int number = 0;
    for (int digit = 0; digit < 4; digit++) {
        int value = hex_digit(at[digit]);
        if (value < 0) return -1; /* at the latest at the NUL byte */
        number = 16 * number + value;
    }
    return number;
}

/* Whether one of eight bytes is a quotation mark, a backslash or a control character. */
INLINE int word_has_special(uint64_t word) {
    uint64_t quote = word ^ 0x2222222222222222u, slash = word ^ 0x5C5C5C5C5C5C5C5Cu;
    uint64_t special = (quote - ONE_EACH) & ~quote;
    special |= (slash - ONE_EACH) & ~slash;
    special |= (word - 0x2020202020202020u) & ~word;
    return (special & HIGH_BITS) != 0;
}

/* A text, behind its opening quotation mark. */
INLINE int json_text(Json *json, JsonValue *value) {
    const byte *at = json->at;
    value->type = JSON_TEXT;
    value->begin = at;
    value->has_escapes = 0;
    for (;;) {
        while (!word_has_special(load_word(at))) at += 8;
        while (*at >= 0x20 && *at != '"' && *at != '\\') at++;
        if (LIKELY(*at == '"')) break;
        if (*at != '\\') return 0;
        value->has_escapes = 1;
        at++;
        if (*at == 'u') {
            if (hex_number(at + 1) < 0) return 0;
            at += 5;
        } else {
            if (!*at || !strchr("\"\\/bfnrt", *at)) return 0;
            at++;
        }
    }
    value->end = at;
    json->at = at + 1;
    return 1;
}

/* The text with its escapes replaced, which is never longer; its length, or -1 if it contains half a character or NUL. */
static int64_t json_unescape(const JsonValue *value, byte *out) {
    const byte *at = value->begin;
    byte *to = out;
    while (at < value->end) {
        if (*at != '\\') {
            *to++ = *at++;
            continue;
        }
        if (*++at != 'u') {
            const char *names = "bfnrt", *found = strchr(names, *at);
            *to++ = found ? (byte)"\b\f\n\r\t"[found - names] : *at;
            at++;
            continue;
        }
        int code = hex_number(at + 1);
        at += 5;
        if (code >= 0xD800 && code < 0xE000) {
            int low = code < 0xDC00 && at[0] == '\\' && at[1] == 'u' ? hex_number(at + 2) : -1;
            if (low < 0xDC00 || low >= 0xE000) return -1;
            at += 6;
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        if (!code) return -1;
        if (code < 0x80) {
            *to++ = (byte)code;
        } else {
            if (code < 0x800) {
                *to++ = (byte)(0xC0 | code >> 6);
            } else {
                if (code < 0x10000) {
                    *to++ = (byte)(0xE0 | code >> 12);
                } else {
                    *to++ = (byte)(0xF0 | code >> 18);
                    *to++ = (byte)(0x80 | (code >> 12 & 0x3F));
                }
                *to++ = (byte)(0x80 | (code >> 6 & 0x3F));
            }
            *to++ = (byte)(0x80 | (code & 0x3F));
        }
    }
    return to - out;
}

INLINE const byte *json_digits(const byte *at) {
    while ((byte)(*at - '0') <= 9) at++;
    return at;
}

INLINE int json_number(Json *json, JsonValue *value) {
    const byte *at = json->at, *digits;
    value->begin = at;
    value->type = JSON_INTEGER;
    value->has_escapes = 0;
    if (*at == '-') at++;
    digits = at;
    at = json_digits(at);
    if (at == digits || (*digits == '0' && at > digits + 1)) return 0;
    if (*at == '.') {
        value->type = JSON_REAL;
        digits = ++at;
        at = json_digits(at);
        if (at == digits) return 0;
    }
    if ((*at | 0x20) == 'e') {
        value->type = JSON_REAL;
        at++;
        if (*at == '+' || *at == '-') at++;
        digits = at;
        at = json_digits(at);
        if (at == digits) return 0;
    }
    value->end = json->at = at;
    return at - value->begin <= MAX_NUMBER;
}

static int json_word(Json *json, JsonValue *value, const char *word, JsonType type) {
    size_t length = strlen(word);
    if (strncmp((const char *)json->at, word, length)) return 0;
    value->begin = json->at;
    value->end = json->at += length;
    value->type = type;
    value->has_escapes = 0;
    return 1;
}

static int json_skip_nested(Json *json, int depth);

/* The value that begins here; what a list or an object contains is only checked. */
INLINE int json_value(Json *json, JsonValue *value, int depth) {
    switch (*json->at) {
    case '"':
        json->at++;
        return json_text(json, value);
    case 't': return json_word(json, value, "true", JSON_TRUE);
    case 'f': return json_word(json, value, "false", JSON_FALSE);
    case 'n': return json_word(json, value, "null", JSON_NULL);
    case '{':
    case '[':
        value->type = JSON_NESTED;
        value->begin = json->at;
        value->has_escapes = 0;
        if (!json_skip_nested(json, depth)) return 0;
        value->end = json->at;
        return 1;
    default: return json_number(json, value);
    }
}

static int json_skip_nested(Json *json, int depth) {
    JsonValue value;
    int is_object = *json->at++ == '{';
    byte closing = is_object ? '}' : ']';
    if (depth >= MAX_DEPTH) return 0;
    json_blanks(json);
    if (json_is(json, closing)) return 1;
    for (;;) {
        if (is_object) {
            if (!json_is(json, '"') || !json_text(json, &value)) return 0;
            json_blanks(json);
            if (!json_is(json, ':')) return 0;
            json_blanks(json);
        }
        if (!json_value(json, &value, depth + 1)) return 0;
        json_blanks(json);
        if (json_is(json, closing)) return 1;
        if (!json_is(json, ',')) return 0;
        json_blanks(json);
    }
}

/* What follows a value: 1 a comma, 0 the end of the list or object and of the file, -1 neither. */
static int json_separator(Json *json, byte closing, const Part *part) {
    json_blanks(json);
    if (json_is(json, ',')) return 1;
    if (!json_is(json, closing)) return -1;
    json_blanks(json);
    return part->is_last && json->at == part->text + part->size ? 0 : -1;
}

/* The number of a value as Python's float; 0 if it is not a number. An integer has no negative zero. */
INLINE int json_float(const JsonValue *value, double *number) {
    if (value->type == JSON_TRUE || value->type == JSON_FALSE) {
        *number = value->type == JSON_TRUE;
        return 1;
    }
    if (value->type != JSON_INTEGER && value->type != JSON_REAL) return 0;
    Decimal decimal = decimal_read(value->begin, (uint32_t)(value->end - value->begin));
    if (LIKELY(decimal_is_usual(decimal)))
        *number = decimal_usual_value(decimal);
    else if (decimal_value(decimal, number) != DECIMAL_OK) {
        char *end; /* what follows is not part of a number */
        *number = PyOS_string_to_double((const char *)value->begin, &end, NULL);
        if ((const byte *)end != value->end) {
            PyErr_Clear();
            return 0;
        }
    }
    if (value->type == JSON_INTEGER && *number == 0.0) *number = 0.0;
    return 1;
}
