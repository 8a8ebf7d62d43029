/*
 * Memory for arrays: growing ones, and ones that a single thread writes.
 */
#ifndef BENCHKIT_ARRAY_H
#define BENCHKIT_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE_BYTES = 64 };

/* Room for one more element of `size` bytes behind the `count` there are; `items` was
 * grown by this function only. NULL without memory, `items` then stays as it was. */
static inline void *array_extend(void *items, uint32_t count, size_t size)
{
    if (count & (count - 1))
        return items;
    return realloc(items, (count ? 2 * (size_t)count : 1) * size);
}

/* `count` zeroed elements that share no cache line with anything else: what one thread
 * writes often must not slow down another. free() it; NULL without memory. */
static inline void *array_zeroed(uint32_t count, size_t size)
{
    size_t bytes = (size_t)count * size + 1;
    size_t whole = (bytes + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
    void *items = aligned_alloc(CACHE_LINE_BYTES, whole);

    if (items)
        memset(items, 0, whole);
    return items;
}

#endif
