/* Objects with named values, one per line or in an array, as columns. */

#include "scanner.h"

typedef struct {
    const byte *text;
    int64_t length;
} Name;

typedef struct {
    Name names[MAX_NAMES];
    JsonValue values[MAX_NAMES];
    uint64_t seen;      /* one bit for each name in the current object */
    uint32_t expected;  /* the name that comes next if the objects are alike */
    int is_odd;
} Record;

INLINE int record_name(Record *record, const Columns *columns, const JsonValue *key) {
    int64_t length = key->end - key->begin;
    uint32_t at = record->expected;
    for (uint32_t tried = 0; tried < columns->count; tried++, at++) {
        if (at >= columns->count) at = 0;
        if (record->names[at].length == length && !memcmp(record->names[at].text, key->begin, (size_t)length)) return (int)at;
    }
    return -1;
}

/* Read an object up to its end; 0 if it is not one. */
static int record_read(Record *record, const Columns *columns, Json *json) {
    JsonValue key, value;
    record->seen = record->is_odd = 0;
    record->expected = 0;
    if (!json_is(json, '{')) return 0;
    json_blanks(json);
    if (json_is(json, '}')) return 1;
    for (;;) {
        if (!json_is(json, '"') || !json_text(json, &key)) return 0;
        json_blanks(json);
        if (!json_is(json, ':')) return 0;
        json_blanks(json);
        if (!json_value(json, &value, 1)) return 0;
        int at = key.has_escapes ? -1 : record_name(record, columns, &key);
        if (at < 0 || record->seen >> at & 1) {
            record->is_odd = 1;
        } else {
            record->seen |= (uint64_t)1 << at;
            record->values[at] = value;
            record->expected = (uint32_t)at + 1;
        }
        json_blanks(json);
        if (json_is(json, '}')) return 1;
        if (!json_is(json, ',')) return 0;
        json_blanks(json);
    }
}

/* Store the text of a value as an id, or as a text if an id is not required; 0 if Python must look at it. */
INLINE int record_text(Columns *columns, int at, const JsonValue *value) {
    int wanted = columns->wanted[at], is_id = columns->use[at] & COLUMN_ID;
    int is_text = value->type == JSON_TEXT && value->end > value->begin;
    if (is_text && value->has_escapes) {
        byte *out = columns->text + columns->text_size;
        int64_t length = json_unescape(value, out);
        if (length < 0) return 0;
        cell_starts(columns, wanted)[columns->rows] = columns->text_size;
        cell_lengths(columns, wanted)[columns->rows] = length;
        columns->previous[wanted] = columns->rows;
        columns->text_size += length;
        return 1;
    }
    if (is_text || (value->type == JSON_INTEGER && !(value->end - value->begin == 2 && !memcmp(value->begin, "-0", 2)))) {
        store_text(columns, wanted, value->begin, value->end - value->begin);
        return 1;
    }
    store_nothing(columns, wanted);
    return !is_id && value->type != JSON_INTEGER;
}

INLINE int record_store(Record *record, Columns *columns) {
    JsonValue nothing = {.type = JSON_MISSING};
    for (uint32_t at = 0; at < columns->count; at++) {
        byte use = columns->use[at];
        if (!use) continue;
        const JsonValue *value = record->seen >> at & 1 ? record->values + at : &nothing;
        if (use & COLUMN_NUMBER && !json_float(value, columns->values + columns->rows)) return 0;
        if (columns->wanted[at] >= 0 && !record_text(columns, (int)at, value)) return 0;
    }
    return 1;
}

/* Store the object that was read; 0 if there is no room for it. */
static int record_end(Record *record, Columns *columns, int64_t line, const byte *text, const byte *begin, const byte *end) {
    if (!columns_have_room(columns, end - begin)) return 0;
    int64_t text_size = columns->text_size;
    int is_odd = record->is_odd || !record_store(record, columns);
    if (is_odd) columns->text_size = text_size;
    store_row(columns, line, begin - text, end - text, is_odd);
    return 1;
}

/* One object per line. A line that is not one is odd; a blank one is skipped. */
static RowsStatus read_json_lines(Record *record, Columns *columns, Part *part) {
    const byte *text = part->text, *end = text + part->size;
    while (text + part->used < end) {
        const byte *begin = text + part->used;
        Json json = {begin, 0};
        json_blanks(&json);
        int is_blank = json.at == end || *json.at == '\n';
        if (!is_blank) {
            int is_read = record_read(record, columns, &json);
            if (is_read) json_blanks(&json);
            if (!is_read || (json.at < end && *json.at != '\n')) {
                const byte *newline = memchr(json.at, '\n', (size_t)(end - json.at));
                json.at = newline ? newline : end;
                record->is_odd = 1;
            }
        }
        if (json.at == end && !part->is_last) return ROWS_OK;
        if (!is_blank && !record_end(record, columns, part->line + 1, text, begin, json.at)) return ROWS_OK;
        part->line++;
        part->used = json.at < end ? json.at + 1 - text : part->size;
    }
    return ROWS_OK;
}

/* Objects with commas between them, behind the bracket that begins the array. */
static RowsStatus read_json_array(Record *record, Columns *columns, Part *part) {
    for (;;) {
        Json json = {part->text + part->used, 1};
        json_blanks(&json);
        const byte *begin = json.at;
        if (!record_read(record, columns, &json)) return part->is_last ? ROWS_BAD : ROWS_OK;
        const byte *end = json.at;
        int follows = json_separator(&json, ']', part);
        if (follows < 0) return part->is_last ? ROWS_BAD : ROWS_OK;
        if (!record_end(record, columns, 0, part->text, begin, end)) return ROWS_OK;
        part->used = json.at - part->text;
        if (!follows) return ROWS_OK;
    }
}
