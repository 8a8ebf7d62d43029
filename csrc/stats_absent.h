/*
 * NaN stands for a value that is absent: it is left out of every statistic.
 */
#ifndef BENCHKIT_STATS_ABSENT_H
#define BENCHKIT_STATS_ABSENT_H

#include <stddef.h>

/* Move the values that are present to the front, in their order; returns how many. */
static inline size_t stats_drop_absent(double *values, size_t size)
{
    size_t present = 0;

    for (size_t i = 0; i < size; i++) {
        double value = values[i];
        values[present] = value;
        present += value == value;
    }
    return present;
}

#endif
