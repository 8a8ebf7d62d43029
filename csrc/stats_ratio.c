/*
 * Ratios of cells. Logarithms are subtracted, not ratios formed, which could overflow.
 */
#include "stats_ratio.h"

#include "stats_sum.h"

#include <math.h>
#include <stdbool.h>

void stats_percent_of_baseline(const double *candidate, const double *baseline,
                               size_t size, double *percent)
{
    for (size_t i = 0; i < size; i++)
        percent[i] = baseline[i] == 0 ? NAN : candidate[i] / baseline[i] * 100;
}

static bool has_logarithm(double value)
{
    return value > 0 && isfinite(value);
}

void stats_geometric_mean_ratio(const double *candidate, const double *baseline,
                                size_t size, struct stats_mean_ratio *mean)
{
    struct stats_sum logarithms = {0};

    *mean = (struct stats_mean_ratio){NAN, 0, 0};
    for (size_t i = 0; i < size; i++) {
        mean->cells += !isnan(candidate[i]) || !isnan(baseline[i]);
        if (!has_logarithm(candidate[i]) || !has_logarithm(baseline[i]))
            continue;
        mean->used++;
        stats_sum_add(&logarithms, log(candidate[i]));
        stats_sum_add(&logarithms, -log(baseline[i]));
    }
    if (mean->used)
        mean->ratio = exp(stats_sum_value(&logarithms) / (double)mean->used);
}
