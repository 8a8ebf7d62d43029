/*
 * Summary of values: how many, mean, spread, shape and percentiles.
 *
 * NaN stands for a value that is absent and is left out. Infinities are values: they
 * have their places among the percentiles; stats_moments.h says what they do to the
 * rest.
 */
#ifndef BENCHKIT_STATS_SUMMARY_H
#define BENCHKIT_STATS_SUMMARY_H

#include <stddef.h>

/* All but the counts are NaN where no value is present. */
struct stats_summary {
    size_t count;  /* values that are not NaN */
    size_t absent; /* values that are */
    double mean;
    double maximum;
    double minimum;
    double sd;        /* of the population: divided by n */
    double sd_sample; /* divided by n - 1; NaN for a single value */
    double cov;       /* coefficient of variation: sd / mean */
    double median;    /* percentiles of type 7: see stats_percentile.h */
    double p95;
    double p99;
    double skewness; /* g1, biased; NaN where all values are equal */
    double kurtosis; /* excess, biased; NaN where all values are equal */
};

/* Summarise values[0..size-1], which are reordered. Any thread; allocates nothing. */
void stats_summary_compute(double *values, size_t size, struct stats_summary *summary);

#endif
