/*
 * Mean, spread and shape of values, as running moments: those of two parts give those
 * of the whole, so that streams need not be kept.
 *
 * NaN stands for a value that is absent. Infinities are values: the mean is then
 * infinite, or NaN where both are among them, and spread and shape are NaN.
 */
#ifndef BENCHKIT_STATS_MOMENTS_H
#define BENCHKIT_STATS_MOMENTS_H

#include <stddef.h>

/* All but the first four are in units of `scale`, a power of two that keeps fourth
 * powers of any double within range. */
struct stats_moments {
    size_t count;  /* values that are not NaN */
    size_t absent; /* values that are */
    double minimum;
    double maximum;
    double scale;
    double mean; /* the mean is mean + mean_rest */
    double mean_rest;
    double squares; /* sums of powers of the deviations from the mean */
    double cubes;
    double fourths;
};

/* The moments of values[0..size-1]; size may be 0. Moves the values that are present to
 * the front, in their order. Two passes: the deviations are those from the mean. */
void stats_moments_compute(struct stats_moments *moments, double *values, size_t size);

/* Make `target` the moments of its values and those of `source` together. */
void stats_moments_merge(struct stats_moments *target,
                         const struct stats_moments *source);

/* Each of these is NaN where no value is present. */
double stats_moments_minimum(const struct stats_moments *moments);
double stats_moments_maximum(const struct stats_moments *moments);
double stats_moments_mean(const struct stats_moments *moments);

/* Standard deviation: of the values as a population, divided by n; and as a sample,
 * divided by n - 1 and NaN for a single value. */
double stats_moments_sd(const struct stats_moments *moments);
double stats_moments_sd_sample(const struct stats_moments *moments);

/* g1 = m3 / m2^1.5 and g2 = m4 / m2^2 - 3, biased; NaN where all values are equal. */
double stats_moments_skewness(const struct stats_moments *moments);
double stats_moments_kurtosis(const struct stats_moments *moments);

#endif
