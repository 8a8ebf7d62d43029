/*
 * A Feistel network over the smallest power of two that holds the range. Numbers that
 * fall outside the range are permuted again until they are inside (cycle walking),
 * less than twice on average.
 */
#include "permutation.h"

#include "rng.h"

#include <assert.h>

static int bits_of(uint64_t number)
{
    return number ? 64 - __builtin_clzll(number) : 0;
}

void permutation_init(struct permutation *permutation, uint64_t size, uint64_t key)
{
    struct rng rng;
    int bits = bits_of(size - 1);

    assert(size > 0 && bits <= 63);
    permutation->size = size;
    permutation->low_bits = (bits + 1) / 2;
    permutation->low_mask = (UINT64_C(1) << permutation->low_bits) - 1;
    permutation->high_mask = (UINT64_C(1) << (bits / 2)) - 1;
    rng_seed(&rng, &key, 1);
    for (int i = 0; i < PERMUTATION_ROUNDS; i++)
        permutation->keys[i] = rng_next(&rng);
}

static uint64_t scramble(uint64_t half, uint64_t key)
{
    uint64_t x = (half + key) * UINT64_C(0xD6E8FEB86659FD93);

    x = (x ^ (x >> 32)) * UINT64_C(0xD6E8FEB86659FD93);
    return x ^ (x >> 32);
}

static uint64_t permute(const struct permutation *permutation, uint64_t number)
{
    uint64_t low = number & permutation->low_mask;
    uint64_t high = number >> permutation->low_bits;

    for (int i = 0; i < PERMUTATION_ROUNDS; i += 2) {
        low ^= scramble(high, permutation->keys[i]) & permutation->low_mask;
        high ^= scramble(low, permutation->keys[i + 1]) & permutation->high_mask;
    }
    return high << permutation->low_bits | low;
}

uint64_t permutation_at(const struct permutation *permutation, uint64_t place)
{
    assert(place < permutation->size);
    do
        place = permute(permutation, place);
    while (place >= permutation->size);
    return place;
}
