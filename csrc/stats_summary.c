/*
 * What the moments and the percentiles make together.
 */
#include "stats_summary.h"

#include "stats_moments.h"
#include "stats_percentile.h"

enum { PERCENTILES = 3 };

void stats_summary_compute(double *values, size_t size, struct stats_summary *summary)
{
    static const double at[PERCENTILES] = {50, 95, 99};
    size_t ranks[2 * PERCENTILES];
    const struct stats_percentiles wanted = {at, PERCENTILES, ranks};
    double percentiles[PERCENTILES];
    struct stats_moments moments;

    stats_moments_compute(&moments, values, size);
    stats_percentiles(values, moments.count, &wanted, percentiles);
    summary->count = moments.count;
    summary->absent = moments.absent;
    summary->mean = stats_moments_mean(&moments);
    summary->maximum = stats_moments_maximum(&moments);
    summary->minimum = stats_moments_minimum(&moments);
    summary->sd = stats_moments_sd(&moments);
    summary->sd_sample = stats_moments_sd_sample(&moments);
    summary->cov = summary->sd / summary->mean;
    summary->median = percentiles[0];
    summary->p95 = percentiles[1];
    summary->p99 = percentiles[2];
    summary->skewness = stats_moments_skewness(&moments);
    summary->kurtosis = stats_moments_kurtosis(&moments);
}
