/*
 * Random streams: xoshiro256++ seeded through splitmix64.
 *
 * A stream is a plain struct owned by one thread. Its seed is a short list of words
 * such as (study seed, run, worker) or (data seed, table, row), so that streams are
 * independent and repeatable whatever the number of threads.
 */
#ifndef BENCHKIT_RNG_H
#define BENCHKIT_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t state[4];
};

/* Start the stream that belongs to `words[0..count-1]`. The same words give the same
 * stream; lists that differ anywhere, also in length, give unrelated streams. */
void rng_seed(struct rng *rng, const uint64_t *words, size_t count);

/* The next 64 uniform bits. */
static inline uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t sum = s[0] + s[3];
    uint64_t result = ((sum << 23) | (sum >> 41)) + s[0];
    uint64_t shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/* Uniform in [0, 1), 53 bits. */
static inline double rng_uniform(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1.0p-53;
}

/* Uniform in 0..bound-1 without bias (Lemire's method); bound > 0. */
uint64_t rng_below(struct rng *rng, uint64_t bound);

#endif
