/*
 * Two tables of the same shape, cell by cell: a candidate and its baseline.
 *
 * NaN stands for a cell that is absent on a side.
 */
#ifndef BENCHKIT_STATS_RATIO_H
#define BENCHKIT_STATS_RATIO_H

#include <stddef.h>

/* percent[i] = candidate[i] / baseline[i] * 100: 100 where nothing changed; NaN where a
 * side is absent or the baseline is 0. */
void stats_percent_of_baseline(const double *candidate, const double *baseline,
                               size_t size, double *percent);

struct stats_mean_ratio {
    double ratio; /* geometric mean of candidate / baseline; NaN if `used` is 0 */
    size_t used;  /* cells that both sides have, finite and above 0 */
    size_t cells; /* cells that at least one side has */
};

/* The geometric mean of the ratios: the same cells count on both sides, and swapping
 * the sides inverts it. */
void stats_geometric_mean_ratio(const double *candidate, const double *baseline,
                                size_t size, struct stats_mean_ratio *mean);

#endif
