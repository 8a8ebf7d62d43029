/*
 * Summary of an array of doubles: count, mean, spread and extremes, by GSL.
 *
 * NaN stands for a value that is absent and is left out. Infinities are values.
 */
#ifndef BENCHKIT_STATS_SUMMARY_H
#define BENCHKIT_STATS_SUMMARY_H

#include <stddef.h>

struct error;

/* All but `count` are NaN where no value is present. */
struct stats_summary {
    size_t count; /* values that are not NaN */
    double mean;
    double sd; /* of the population: divided by count */
    double minimum;
    double maximum;
};

/* Summarise values[0..size-1]; the array is not changed. ERROR_SYSTEM without memory,
 * which is needed only where some values are NaN. Any thread. */
int stats_summary_compute(const double *values, size_t size,
                          struct stats_summary *summary, struct error *error);

#endif
