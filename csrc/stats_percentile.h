/*
 * Percentiles of values, and of values with weights.
 *
 * NaN stands for a value that is absent and is left out. Infinities are values.
 */
#ifndef BENCHKIT_STATS_PERCENTILE_H
#define BENCHKIT_STATS_PERCENTILE_H

#include <stdbool.h>
#include <stddef.h>

struct error;

/* True for 0 to 100; false for NaN. */
bool stats_is_percentile(double percentile);

/* What stats_percentiles() is asked for. */
struct stats_percentiles {
    const double *at; /* percentiles, each 0 to 100 */
    size_t count;
    size_t *ranks; /* room for 2 * count */
};

/* Fill `results`, one for each percentile, by type 7: at rank p/100 * (n - 1) of the
 * sorted values, linear between neighbours. NaN where no value is present, or halfway
 * between minus infinity and infinity. Reorders the values. */
void stats_percentiles(double *values, size_t size,
                       const struct stats_percentiles *wanted, double *results);

/* Values that count as often as their weights say, such as buckets of histograms. */
struct stats_weighted {
    double *values;
    double *weights; /* finite, not negative; unchecked where the value is NaN */
    size_t size;
};

/* Make ready for stats_weighted_percentile(): drops what is NaN or has no weight, sorts
 * by value and sums up the weights, all in place. ERROR_INVALID if a weight is negative
 * or NaN, or if their sum is not finite. */
int stats_weighted_prepare(struct stats_weighted *weighted, struct error *error);

/* The smallest value at or below which at least `percentile` percent of the weight
 * lies, as in histogram_percentile(); NaN without any weight. */
double stats_weighted_percentile(const struct stats_weighted *prepared,
                                 double percentile);

#endif
