/* {query: {document: number}}: the queries and their documents, in the order of the text.

   A query whose value is anything else, or has an id or a number that needs a closer look, is odd: only where it is in
   the text is kept. */

#include "scanner.h"

enum { QUERY_START, QUERY_LENGTH, QUERY_ENTRIES, QUERY_BEGIN, QUERY_END, QUERY_PARTS };

typedef struct {
    int64_t *queries;   /* for each: QUERY_PARTS numbers; the end is 0 unless it is odd */
    int64_t query_room, query_count;
    int64_t *starts, *lengths;
    double *values;
    int64_t room, count;
    byte *text;
    int64_t text_room, text_size;
} Mapping;

/* Copy an id; 0 if Python must look at it. */
INLINE int mapping_id(Mapping *mapping, const JsonValue *id, int64_t *start, int64_t *length) {
    byte *out = mapping->text + mapping->text_size;
    *start = mapping->text_size;
    *length = id->end - id->begin;
    if (id->has_escapes)
        *length = json_unescape(id, out);
    else
        memcpy(out, id->begin, (size_t)*length);
    if (*length <= 0) return 0;
    mapping->text_size += *length;
    return 1;
}

/* The entries of a query, from the brace on: 1 if all were stored, 0 if Python must read the query, -1 if there is no
   more room. */
static int mapping_entries(Mapping *mapping, Json *json) {
    JsonValue key, value;
    json->at++;
    json_blanks(json);
    if (json_is(json, '}')) return 1;
    for (;;) {
        if (!json_is(json, '"') || !json_text(json, &key)) return 0;
        json_blanks(json);
        if (!json_is(json, ':')) return 0;
        json_blanks(json);
        if (!json_value(json, &value, 2)) return 0;
        if (mapping->count == mapping->room || key.end - key.begin > mapping->text_room - mapping->text_size) return -1;
        if (!json_float(&value, mapping->values + mapping->count)) return 0;
        if (!mapping_id(mapping, &key, mapping->starts + mapping->count, mapping->lengths + mapping->count)) return 0;
        mapping->count++;
        json_blanks(json);
        if (json_is(json, '}')) return 1;
        if (!json_is(json, ',')) return 0;
        json_blanks(json);
    }
}

/* One query, its id and its entries: 1 if it was stored, perhaps as an odd one, 0 if it is not JSON, -1 if there is no
   more room. */
static int mapping_query(Mapping *mapping, Json *json, const byte *text) {
    JsonValue key, value;
    const byte *begin = json->at;
    int64_t count = mapping->count, *query = mapping->queries + QUERY_PARTS * mapping->query_count;
    if (!json_is(json, '"') || !json_text(json, &key)) return 0;
    if (mapping->query_count == mapping->query_room || key.end - key.begin > mapping->text_room - mapping->text_size)
        return -1;
    json_blanks(json);
    if (!json_is(json, ':')) return 0;
    json_blanks(json);
    const byte *value_begin = json->at;
    int is_read = mapping_id(mapping, &key, query + QUERY_START, query + QUERY_LENGTH) && *json->at == '{';
    if (is_read) is_read = mapping_entries(mapping, json);
    if (is_read < 0) return -1;
    if (!is_read) {
        mapping->count = count;
        json->at = value_begin;
        if (!json_value(json, &value, 1)) return 0;
    }
    query[QUERY_ENTRIES] = mapping->count - count;
    query[QUERY_BEGIN] = begin - text;
    query[QUERY_END] = is_read ? 0 : json->at - text;
    return 1;
}

/* Queries with commas between them, behind the brace that begins the text. */
static RowsStatus read_mapping(Mapping *mapping, Part *part) {
    for (;;) {
        Json json = {part->text + part->used, 1};
        int64_t count = mapping->count, text_size = mapping->text_size;
        json_blanks(&json);
        int found = mapping_query(mapping, &json, part->text);
        int follows = found > 0 ? json_separator(&json, '}', part) : -1;
        if (follows < 0) {
            mapping->count = count;
            mapping->text_size = text_size;
            return found >= 0 && part->is_last ? ROWS_BAD : ROWS_OK;
        }
        mapping->query_count++;
        part->used = json.at - part->text;
        if (!follows) return ROWS_OK;
    }
}
