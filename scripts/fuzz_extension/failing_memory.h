/* Included before everything else when the extension is compiled for fuzzing: memory that runs out on request. */

#include <stdlib.h>

/* The allocations that succeed before one fails; below zero none does. */
__attribute__((visibility("default"))) long allocations_left = -1;

static inline int memory_fails(void) { return allocations_left >= 0 && allocations_left-- == 0; }

static inline void *failing_malloc(size_t size) { return memory_fails() ? NULL : malloc(size); }

static inline void *failing_calloc(size_t count, size_t size) { return memory_fails() ? NULL : calloc(count, size); }

static inline void *failing_realloc(void *old, size_t size) { return memory_fails() ? NULL : realloc(old, size); }

#define malloc(size) failing_malloc(size)
#define calloc(count, size) failing_calloc(count, size)
#define realloc(old, size) failing_realloc(old, size)
