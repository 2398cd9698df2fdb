/* Lines by a hash of their query, so that a run that does not fit into memory can be joined part by part. */

#include <stdlib.h>

#include "scanner.h"

/* One line with content: where it is, its mark, and its partition. */
typedef struct {
    uint32_t begin, size, mark, partition;
} PartLine;

typedef struct {
    PartLine *lines;
    uint64_t count, room;
} PartLines;

static PartLine *new_part_line(PartLines *all) {
    if (all->count == all->room) {
        uint64_t room = all->room ? 2 * all->room : 4096;
        if (!grow((void **)&all->lines, room, sizeof *all->lines)) return NULL;
        all->room = room;
    }
    return all->lines + all->count++;
}

/* Find the lines of a text and their partitions. A mark is twice the place of a line in the text, and 1 more if its query
   differs from that of the line before; `marks`, if there are any, are taken over. */
static PartStatus find_part_lines(Partitions *parts, PartLines *all) {
    const byte *text = parts->text;
    const byte *query = parts->last;
    uint32_t length = parts->last_length, number = 0;
    for (uint32_t at = 0, end; at < parts->size; at = end + 1, number++) {
        const byte *newline = memchr(text + at, '\n', parts->size - at);
        end = newline ? (uint32_t)(newline - text) : parts->size;
        uint32_t begin = at, behind;
        while (begin < end && is_white(text[begin])) begin++;
        if (begin == end) continue;
        for (behind = begin + 1; behind < end && !is_white(text[behind]);) behind++;
        uint32_t size = behind - begin;
        /* The last query of the text before has no padding. */
        int is_same = size == length && (all->count ? id_same(text + begin, query, size) : !memcmp(text + begin, query, size));
        query = text + begin, length = size;
        if (parts->marks && all->count == parts->mark_count) return PART_WRONG;
        uint32_t mark = parts->marks ? parts->marks[all->count] : 2 * number + (uint32_t)!is_same;
        PartLine *line = new_part_line(all);
        if (!line) return PART_MEMORY;
        PartLine found = {at, end - at, mark, (uint32_t)(id_hash(query, size, parts->seed) >> parts->shift) & (PARTITIONS - 1)};
        *line = found;
        parts->rows[found.partition]++;
        parts->bytes[found.partition] += found.size + 1;
    }
    parts->last = query, parts->last_length = length;
    parts->line_count = number;
    return parts->marks && all->count != parts->mark_count ? PART_WRONG : PART_OK;
}

/* Lines and marks, partition by partition, each in the order of the text; every line ends with a newline. */
static void place_part_lines(const Partitions *parts, const PartLines *all, byte *text, uint32_t *marks) {
    byte *next_text[PARTITIONS];
    uint32_t *next_mark[PARTITIONS];
    for (int part = 0; part < PARTITIONS; part++) {
        next_text[part] = text, next_mark[part] = marks;
        text += parts->bytes[part], marks += parts->rows[part];
    }
    for (const PartLine *line = all->lines, *end = line + all->count; line < end; line++) {
        byte *to = next_text[line->partition];
        memcpy(to, parts->text + line->begin, line->size);
        to[line->size] = '\n';
        next_text[line->partition] = to + line->size + 1;
        *next_mark[line->partition]++ = line->mark;
    }
}
