/*
 * A sum that carries what rounding loses (Neumaier 1974): its error does not grow with
 * the number of terms.
 */
#ifndef BENCHKIT_STATS_SUM_H
#define BENCHKIT_STATS_SUM_H

#include <math.h>

/* Starts as zeros. The sum is total + lost. */
struct stats_sum {
    double total;
    double lost;
};

static inline void stats_sum_add(struct stats_sum *sum, double term)
{
    double total = sum->total + term;

    if (fabs(sum->total) >= fabs(term))
        sum->lost += (sum->total - total) + term;
    else
        sum->lost += (term - total) + sum->total;
    sum->total = total;
}

static inline double stats_sum_value(const struct stats_sum *sum)
{
    return sum->total + sum->lost;
}

#endif
