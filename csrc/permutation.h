/*
 * A keyed permutation of 0..size-1 that needs no memory: which number comes at a place
 * is worked out, not looked up. Immutable once made; shared by threads.
 */
#ifndef BENCHKIT_PERMUTATION_H
#define BENCHKIT_PERMUTATION_H

#include <stdint.h>

enum { PERMUTATION_ROUNDS = 6 };

struct permutation {
    uint64_t size;
    uint64_t low_mask;  /* the numbers are split into a low and a high half of bits */
    uint64_t high_mask; /* after the shift down */
    int low_bits;
    uint64_t keys[PERMUTATION_ROUNDS];
};

/* The permutation of 0..size-1 that belongs to `key`; size in 1..2^63. */
void permutation_init(struct permutation *permutation, uint64_t size, uint64_t key);

/* The number at `place` (0..size-1); each number is at one place. */
uint64_t permutation_at(const struct permutation *permutation, uint64_t place);

#endif
