/*
 * Streams: repeatable, unrelated, unbiased below a bound. Permutations: every number
 * once.
 */
#include "permutation.h"
#include "rng.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>

static void generator_is_xoshiro256_plus_plus(void)
{
    /* First outputs from the state 1, 2, 3, 4, by the authors' reference code. */
    static const uint64_t expected[] = {UINT64_C(41943041), UINT64_C(58720359),
                                        UINT64_C(3588806011781223),
                                        UINT64_C(3591011842654386)};
    struct rng rng = {{1, 2, 3, 4}};

    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        CHECK(rng_next(&rng) == expected[i]);
}

static uint64_t first_of(const uint64_t *words, size_t count)
{
    struct rng rng;

    rng_seed(&rng, words, count);
    return rng_next(&rng);
}

static void same_words_give_the_same_stream(void)
{
    const uint64_t words[] = {1, 2, 3};

    CHECK(first_of(words, 3) == first_of(words, 3));
}

static void lists_that_differ_give_other_streams(void)
{
    static const uint64_t lists[][3] = {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0},
                                        {1, 2, 3}, {3, 2, 1}, {2, 1, 3}};
    uint64_t seen[sizeof lists / sizeof *lists * 3];
    size_t count = 0;

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        seen[count++] = first_of(lists[i], 3);
    seen[count++] = first_of(lists[0], 0);
    seen[count++] = first_of(lists[0], 1);
    seen[count++] = first_of(lists[0], 2);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            CHECK(seen[i] != seen[j]);
}

/* 64 uniform bits of each of many neighbouring streams: each bit is set half the time.
 */
static void neighbouring_streams_are_unrelated(void)
{
    enum { STREAMS = 20000 };
    int ones[64] = {0};

    for (uint64_t i = 0; i < STREAMS; i++) {
        uint64_t words[] = {7, i};
        uint64_t other[] = {7, i + 1};
        uint64_t bits = first_of(words, 2) ^ first_of(other, 2);
        for (int bit = 0; bit < 64; bit++)
            ones[bit] += (int)(bits >> bit & 1);
    }
    for (int bit = 0; bit < 64; bit++) /* 5 standard deviations */
        CHECK(fabs(ones[bit] - STREAMS / 2.) < 5 * sqrt(STREAMS / 4.));
}

static void uniform_is_in_its_interval(void)
{
    const uint64_t word = 5;
    struct rng rng;
    double sum = 0;

    rng_seed(&rng, &word, 1);
    for (int i = 0; i < 100000; i++) {
        double number = rng_uniform(&rng);
        CHECK(number >= 0 && number < 1);
        sum += number;
    }
    CHECK(fabs(sum / 100000 - 0.5) < 0.005);
}

static void below_reaches_each_number_alike(void)
{
    const uint64_t word = 6;
    int counts[7] = {0};
    struct rng rng;

    rng_seed(&rng, &word, 1);
    for (int i = 0; i < 70000; i++)
        counts[rng_below(&rng, 7)]++;
    for (int i = 0; i < 7; i++)
        CHECK(abs(counts[i] - 10000) < 500);
}

/* Below 3/4 of 2^64 a plain multiplication would hit a third of the numbers twice. */
static void below_a_huge_bound_is_unbiased(void)
{
    const uint64_t word = 7;
    const uint64_t bound = UINT64_C(3) << 62;
    int thirds[3] = {0};
    struct rng rng;

    rng_seed(&rng, &word, 1);
    for (int i = 0; i < 30000; i++) {
        uint64_t number = rng_below(&rng, bound);
        CHECK(number < bound);
        thirds[number % 3]++;
    }
    for (int i = 0; i < 3; i++)
        CHECK(abs(thirds[i] - 10000) < 500);
    CHECK(rng_below(&rng, 1) == 0);
}

static void permutation_has_every_number_once(void)
{
    for (uint64_t size = 1; size <= 300; size++) {
        unsigned char seen[300] = {0};
        struct permutation permutation;
        permutation_init(&permutation, size, 42);
        for (uint64_t place = 0; place < size; place++) {
            uint64_t number = permutation_at(&permutation, place);
            CHECK(number < size);
            CHECK(!seen[number]);
            seen[number] = 1;
        }
    }
}

static void permutation_of_a_huge_range_stays_inside(void)
{
    static const uint64_t sizes[] = {UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1,
                                     UINT64_C(9000000000000000000)};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct permutation permutation;
        permutation_init(&permutation, sizes[i], 1);
        for (uint64_t place = 0; place < 1000; place++) {
            CHECK(permutation_at(&permutation, place) < sizes[i]);
            CHECK(permutation_at(&permutation, sizes[i] - 1 - place) < sizes[i]);
        }
    }
}

static void keys_give_other_permutations(void)
{
    struct permutation one, other;
    int same = 0;

    permutation_init(&one, 1000, 1);
    permutation_init(&other, 1000, 2);
    for (uint64_t place = 0; place < 1000; place++)
        same += permutation_at(&one, place) == permutation_at(&other, place);
    CHECK(same < 10);
}

int main(void)
{
    RUN(generator_is_xoshiro256_plus_plus);
    RUN(same_words_give_the_same_stream);
    RUN(lists_that_differ_give_other_streams);
    RUN(neighbouring_streams_are_unrelated);
    RUN(uniform_is_in_its_interval);
    RUN(below_reaches_each_number_alike);
    RUN(below_a_huge_bound_is_unbiased);
    RUN(permutation_has_every_number_once);
    RUN(permutation_of_a_huge_range_stays_inside);
    RUN(keys_give_other_permutations);
    return REPORT();
}
