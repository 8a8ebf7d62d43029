/*
 * Seeding through splitmix64, and bounded draws.
 *
 * The generators are those of Blackman and Vigna (xoshiro256++, splitmix64); the
 * bounded draw is from Lemire, "Fast Random Integer Generation in an Interval" (2019).
 */
#include "rng.h"

#include <assert.h>

__extension__ typedef unsigned __int128 uint128;

static const uint64_t golden_gamma = UINT64_C(0x9E3779B97F4A7C15);

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

void rng_seed(struct rng *rng, const uint64_t *words, size_t count)
{
    uint64_t state = mix(golden_gamma + count);

    /* The state is mixed before each word goes in, so that order matters. */
    for (size_t i = 0; i < count; i++)
        state = mix(state + golden_gamma) ^ words[i];
    for (size_t i = 0; i < sizeof rng->state / sizeof *rng->state; i++) {
        state += golden_gamma;
        rng->state[i] = mix(state);
    }
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    uint128 product;

    assert(bound > 0);
    product = (uint128)rng_next(rng) * bound;
    if ((uint64_t)product < bound) {
        /* 2^64 mod bound: products whose low half is below it come once too often. */
        uint64_t excess = (0 - bound) % bound;
        while ((uint64_t)product < excess)
            product = (uint128)rng_next(rng) * bound;
    }
    return (uint64_t)(product >> 64);
}
