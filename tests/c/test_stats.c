/*
 * Selection, moments, percentiles, weights and ratios, against sorting and GSL; no
 * allocation, and no value that ends the process.
 */
#include "stats_absent.h"
#include "stats_init.h"
#include "stats_moments.h"
#include "stats_order.h"
#include "stats_percentile.h"
#include "stats_ratio.h"
#include "stats_summary.h"

#include "error.h"
#include "rng.h"

#include "allocations.h"
#include "check.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_MAX_HERE = 3000 };

static bool near(double one, double other, double relative)
{
    return one == other || fabs(one - other) <= relative * fabs(other);
}

/* Values of one of several kinds: the kind decides how many are equal, and their order.
 */
static void fill(double *values, size_t size, uint64_t kind, struct rng *rng)
{
    static const uint64_t distinct[] = {1, 2, 5, 100, UINT64_C(1) << 40};
    uint64_t bound = distinct[kind % 5];

    for (size_t i = 0; i < size; i++)
        values[i] = (double)rng_below(rng, bound) - (double)bound / 3;
    if (kind / 5 % 3 == 1)
        gsl_sort(values, 1, size);
    if (kind / 5 % 3 == 2)
        for (size_t i = 0; i < size; i++)
            values[i] = (double)(i < size / 2 ? i : size - i);
}

static void ranks_get_what_sorting_puts_there(void)
{
    double values[SIZE_MAX_HERE], sorted[SIZE_MAX_HERE];
    const uint64_t word = 1;
    struct rng rng;

    rng_seed(&rng, &word, 1);
    for (uint64_t round = 0; round < 600; round++) {
        size_t size = 1 + rng_below(&rng, round % 4 ? 200 : SIZE_MAX_HERE);
        size_t ranks[8], count = rng_below(&rng, 9);
        fill(values, size, round, &rng);
        memcpy(sorted, values, size * sizeof *values);
        gsl_sort(sorted, 1, size);
        for (size_t i = 0; i < count; i++)
            ranks[i] = (i ? ranks[i - 1] : 0) + rng_below(&rng, size / 8 + 1);
        while (count > 0 && ranks[count - 1] >= size)
            count--;
        stats_order(values, size, ranks, count);
        for (size_t i = 0; i < count; i++)
            CHECK(values[ranks[i]] == sorted[ranks[i]]);
        gsl_sort(values, 1, size);
        CHECK(!memcmp(values, sorted, size * sizeof *values));
    }
}

static void ranks_part_the_values(void)
{
    double values[SIZE_MAX_HERE];
    const size_t ranks[] = {10, 1500, 1501, 2999};
    const uint64_t word = 2;
    struct rng rng;

    rng_seed(&rng, &word, 1);
    for (uint64_t kind = 0; kind < 15; kind++) {
        fill(values, SIZE_MAX_HERE, kind, &rng);
        stats_order(values, SIZE_MAX_HERE, ranks, 4);
        for (size_t i = 0; i < SIZE_MAX_HERE; i++)
            CHECK(i < 1500 ? values[i] <= values[1500] : values[i] >= values[1500]);
    }
}

static void absent_values_are_dropped_in_order(void)
{
    double values[] = {NAN, 3, -NAN, 1, INFINITY, NAN};

    CHECK(stats_drop_absent(values, 6) == 3);
    CHECK(values[0] == 3 && values[1] == 1 && values[2] == INFINITY);
    CHECK(stats_drop_absent(values, 0) == 0);
}

static void moments_agree_with_gsl(void)
{
    double values[SIZE_MAX_HERE];
    const uint64_t word = 3;
    struct rng rng;

    rng_seed(&rng, &word, 1);
    for (size_t size = 2; size <= SIZE_MAX_HERE; size += 1 + size / 3) {
        struct stats_moments moments;
        double mean, sd;
        for (size_t i = 0; i < size; i++)
            values[i] = -log(1 - rng_uniform(&rng)) + 5;
        stats_moments_compute(&moments, values, size);
        mean = gsl_stats_mean(values, 1, size);
        sd = gsl_stats_sd_with_fixed_mean(values, 1, size, mean);
        CHECK(near(stats_moments_mean(&moments), mean, 1e-14));
        CHECK(near(stats_moments_sd(&moments), sd, 1e-13));
        CHECK(near(stats_moments_sd_sample(&moments), gsl_stats_sd(values, 1, size),
                   1e-13));
        CHECK(fabs(stats_moments_skewness(&moments) -
                   gsl_stats_skew_m_sd(values, 1, size, mean, sd)) < 1e-10);
        CHECK(fabs(stats_moments_kurtosis(&moments) -
                   gsl_stats_kurtosis_m_sd(values, 1, size, mean, sd)) < 1e-10);
    }
}

static void percentiles_agree_with_gsl(void)
{
    static const double at[] = {99, 0, 12.5, 50, 100, 50, 99.9};
    double values[SIZE_MAX_HERE], results[7];
    size_t ranks[14];
    const struct stats_percentiles wanted = {at, 7, ranks};
    const uint64_t word = 4;
    struct rng rng;

    rng_seed(&rng, &word, 1);
    for (size_t size = 1; size <= SIZE_MAX_HERE; size += 1 + size / 9) {
        fill(values, size, size, &rng);
        stats_percentiles(values, size, &wanted, results);
        gsl_sort(values, 1, size);
        for (size_t i = 0; i < 7; i++)
            CHECK(fabs(results[i] - gsl_stats_quantile_from_sorted_data(values, 1, size,
                                                                        at[i] / 100)) <=
                  1e-12 * fabs(results[i]) + 1e-12);
    }
}

static void only_0_to_100_are_percentiles(void)
{
    CHECK(stats_is_percentile(0) && stats_is_percentile(100));
    CHECK(!stats_is_percentile(-DBL_MIN) && !stats_is_percentile(100.001));
    CHECK(!stats_is_percentile(NAN) && !stats_is_percentile(INFINITY));
}

static void merged_moments_are_those_of_all(void)
{
    double values[SIZE_MAX_HERE];
    struct stats_moments whole, merged, part;
    const uint64_t word = 5;
    struct rng rng;

    rng_seed(&rng, &word, 1);
    for (size_t i = 0; i < SIZE_MAX_HERE; i++)
        values[i] = i % 11 ? 1e6 + rng_uniform(&rng) : NAN;
    stats_moments_compute(&merged, NULL, 0);
    for (size_t start = 0; start < SIZE_MAX_HERE; start += 100) {
        double chunk[100];
        memcpy(chunk, values + start, sizeof chunk);
        stats_moments_compute(&part, chunk, 100);
        stats_moments_merge(&merged, &part);
    }
    stats_moments_compute(&whole, values, SIZE_MAX_HERE);
    CHECK(merged.count == whole.count && merged.absent == whole.absent);
    CHECK(near(stats_moments_mean(&merged), stats_moments_mean(&whole), 1e-15));
    CHECK(near(stats_moments_sd(&merged), stats_moments_sd(&whole), 1e-12));
    CHECK(near(stats_moments_kurtosis(&merged), stats_moments_kurtosis(&whole), 1e-10));
}

/* Whatever is among the values, every figure is a number or NaN. */
static void extreme_values_do_no_harm(void)
{
    static const double extremes[] = {0,       -0.0,      1,        DBL_MAX, -DBL_MAX,
                                      DBL_MIN, 0x1p-1074, INFINITY, NAN,     -INFINITY};
    struct stats_moments stream;
    const uint64_t word = 6;
    struct rng rng;

    rng_seed(&rng, &word, 1);
    stats_moments_compute(&stream, NULL, 0);
    for (int round = 0; round < 3000; round++) {
        double values[60];
        size_t size = rng_below(&rng, 60), kinds = 1 + rng_below(&rng, 10);
        struct stats_summary summary;
        struct stats_moments part;
        for (size_t i = 0; i < size; i++)
            values[i] = extremes[rng_below(&rng, kinds)];
        stats_moments_compute(&part, values, size);
        stats_moments_merge(&stream, &part);
        stats_summary_compute(values, part.count, &summary);
        CHECK(summary.count == part.count && summary.absent == 0);
        CHECK(!(summary.sd < 0) && !(summary.median < summary.minimum));
        CHECK(!(summary.maximum < summary.p99) && !(summary.p99 < summary.p95));
    }
    CHECK(stream.count > 0 && isnan(stats_moments_sd(&stream)));
}

static void known_values_have_known_summaries(void)
{
    double iterations[] = {44581, NAN, 42517, 44942};
    struct stats_summary summary;

    stats_summary_compute(iterations, 4, &summary);
    CHECK(summary.count == 3 && summary.absent == 1);
    CHECK(near(summary.mean, 44013.333333333336, 1e-15));
    CHECK(near(summary.sd, 1068.2822142, 1e-9));
    CHECK(near(summary.cov, 0.024271786, 1e-7));
    CHECK(summary.maximum == 44942 && summary.minimum == 42517);
    CHECK(summary.median == 44581 && near(summary.p95, 44905.9, 1e-14));
    CHECK(near(summary.skewness, -0.6470287936, 1e-9) &&
          near(summary.kurtosis, -1.5, 1e-12));
}

static void summaries_allocate_nothing(void)
{
    double values[SIZE_MAX_HERE];
    struct stats_summary summary;
    const uint64_t word = 7;
    struct rng rng;
    long before;

    rng_seed(&rng, &word, 1);
    fill(values, SIZE_MAX_HERE, 4, &rng);
    before = allocations_made();
    stats_summary_compute(values, SIZE_MAX_HERE, &summary);
    CHECK(allocations_made() == before);
}

static void weights_decide_how_often_a_value_counts(void)
{
    double values[] = {5, 1, NAN, 3, 2}, weights[] = {1, 2, 9, 6, 0};
    struct stats_weighted weighted = {values, weights, 5};
    struct error error;

    CHECK(!stats_weighted_prepare(&weighted, &error));
    CHECK(weighted.size == 3);
    CHECK(stats_weighted_percentile(&weighted, 0) == 1);
    CHECK(stats_weighted_percentile(&weighted, 22) == 1);
    CHECK(stats_weighted_percentile(&weighted, 50) == 3);
    CHECK(stats_weighted_percentile(&weighted, 100) == 5);
}

static void impossible_weights_are_refused(void)
{
    static const double bad[] = {-1, NAN, INFINITY};
    struct error error;

    for (size_t i = 0; i < 3; i++) {
        double values[] = {1, 2}, weights[] = {1, bad[i]};
        struct stats_weighted weighted = {values, weights, 2};
        CHECK(stats_weighted_prepare(&weighted, &error) == -1);
        CHECK(error.kind == ERROR_INVALID);
    }
}

static void no_weight_has_no_percentile(void)
{
    double values[] = {1, NAN}, weights[] = {0, 1};
    struct stats_weighted weighted = {values, weights, 2};
    struct error error;

    CHECK(!stats_weighted_prepare(&weighted, &error));
    CHECK(isnan(stats_weighted_percentile(&weighted, 50)));
}

static void ratios_are_of_cells_of_both_sides(void)
{
    const double candidate[] = {2, 8, NAN, 5, NAN}, baseline[] = {1, 1, 4, 0, NAN};
    struct stats_mean_ratio mean;
    double percent[5];

    stats_percent_of_baseline(candidate, baseline, 5, percent);
    CHECK(percent[0] == 200 && percent[1] == 800);
    CHECK(isnan(percent[2]) && isnan(percent[3]) && isnan(percent[4]));
    stats_geometric_mean_ratio(candidate, baseline, 5, &mean);
    CHECK(mean.used == 2 && mean.cells == 4 && near(mean.ratio, 4, 1e-15));
    stats_geometric_mean_ratio(candidate, baseline, 0, &mean);
    CHECK(mean.used == 0 && mean.cells == 0 && isnan(mean.ratio));
}

static void *summarise(void *context)
{
    double values[SIZE_MAX_HERE];
    const uint64_t word = 8;
    struct rng rng;

    rng_seed(&rng, &word, 1);
    for (int round = 0; round < 50; round++) {
        fill(values, SIZE_MAX_HERE, 4, &rng);
        stats_summary_compute(values, SIZE_MAX_HERE, context);
    }
    return NULL;
}

static void threads_do_not_share_anything(void)
{
    struct stats_summary summaries[2];
    pthread_t thread;

    CHECK(!pthread_create(&thread, NULL, summarise, &summaries[0]));
    summarise(&summaries[1]);
    pthread_join(thread, NULL);
    CHECK(!memcmp(&summaries[0], &summaries[1], sizeof *summaries));
}

static void errors_of_gsl_do_not_end_the_process(void)
{
    stats_init();
    GSL_ERROR_VOID("an error that the default handler aborts on", GSL_EINVAL);
}

int main(void)
{
    RUN(errors_of_gsl_do_not_end_the_process);
    RUN(ranks_get_what_sorting_puts_there);
    RUN(ranks_part_the_values);
    RUN(absent_values_are_dropped_in_order);
    RUN(moments_agree_with_gsl);
    RUN(percentiles_agree_with_gsl);
    RUN(only_0_to_100_are_percentiles);
    RUN(merged_moments_are_those_of_all);
    RUN(extreme_values_do_no_harm);
    RUN(known_values_have_known_summaries);
    RUN(summaries_allocate_nothing);
    RUN(weights_decide_how_often_a_value_counts);
    RUN(impossible_weights_are_refused);
    RUN(no_weight_has_no_percentile);
    RUN(ratios_are_of_cells_of_both_sides);
    RUN(threads_do_not_share_anything);
    return REPORT();
}
