/*
 * A sum that carries what rounding loses: its error does not grow with the number of
 * terms, as long as these are finite.
 */
#ifndef BENCHKIT_STATS_SUM_H
#define BENCHKIT_STATS_SUM_H

/* Starts as zeros. The sum is total + lost. */
struct stats_sum {
    double total;
    double lost;
};

/* Knuth's TwoSum: without the branch on which term is larger. */
static inline void stats_sum_add(struct stats_sum *sum, double term)
{
    double total = sum->total + term;
    double added = total - sum->total;

    sum->lost += (sum->total - (total - added)) + (term - added);
    sum->total = total;
}

static inline double stats_sum_value(const struct stats_sum *sum)
{
    return sum->total + sum->lost;
}

#endif
