/*
 * Sums go block by block, plainly within a block and compensated across them: as fast
 * as memory, and as exact as a long double. GSL's mean, sd, skew and kurtosis divide a
 * long double once per value, which takes nine times as long; the tests compare with
 * them. Merging is Pebay's (SAND2008-6212).
 */
#include "stats_moments.h"

#include "stats_absent.h"
#include "stats_sum.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

enum {
    BLOCK = 128,
    SCALE_EXPONENT_MAX = 1021 /* the scale and its inverse are normal numbers */
};

struct power_sums {
    struct stats_sum first, second, third, fourth;
};

/* A power of two near `largest`, or 1 where fourth powers of the values, and of their
 * deviations, are within range anyway. The least one for zeros, which go with all. */
static double scale_for(double largest)
{
    const double safe = 1e60;
    int exponent;

    if (largest < safe && largest > 1 / safe)
        return 1;
    frexp(largest, &exponent);
    if (exponent > SCALE_EXPONENT_MAX)
        exponent = SCALE_EXPONENT_MAX;
    if (largest == 0 || exponent < -SCALE_EXPONENT_MAX)
        exponent = -SCALE_EXPONENT_MAX;
    return ldexp(1, exponent);
}

static size_t block_at(size_t start, size_t size)
{
    return size - start < BLOCK ? size - start : BLOCK;
}

static double scaled_mean(const double *values, size_t size, double factor)
{
    struct stats_sum sum = {0};

    for (size_t start = 0; start < size; start += BLOCK) {
        size_t end = start + block_at(start, size);
        double block = 0;
        for (size_t i = start; i < end; i++)
            block += values[i] * factor;
        stats_sum_add(&sum, block);
    }
    return stats_sum_value(&sum) / (double)size;
}

static void add_block(struct power_sums *sums, const double *values, size_t size,
                      double factor, double centre)
{
    double first = 0, second = 0, third = 0, fourth = 0;

    for (size_t i = 0; i < size; i++) {
        double deviation = values[i] * factor - centre;
        double square = deviation * deviation;
        first += deviation;
        second += square;
        third += square * deviation;
        fourth += square * square;
    }
    stats_sum_add(&sums->first, first);
    stats_sum_add(&sums->second, second);
    stats_sum_add(&sums->third, third);
    stats_sum_add(&sums->fourth, fourth);
}

/* From sums of powers about `centre`, which is the mean but for its rounding, to those
 * about the mean. */
static void centre_on_mean(struct stats_moments *moments, double centre,
                           const struct power_sums *sums)
{
    double count = (double)moments->count;
    double rest = stats_sum_value(&sums->first) / count;
    double second = stats_sum_value(&sums->second);
    double third = stats_sum_value(&sums->third);
    double square = rest * rest;

    moments->mean = centre;
    moments->mean_rest = rest;
    moments->squares = fmax(second - count * square, 0);
    moments->cubes = third - 3 * rest * second + 2 * count * square * rest;
    moments->fourths = stats_sum_value(&sums->fourth) - 4 * rest * third +
                       6 * square * second - 3 * count * square * square;
}

static void compute_finite(struct stats_moments *moments, const double *values)
{
    double factor = 1 / moments->scale;
    double centre = scaled_mean(values, moments->count, factor);
    struct power_sums sums = {0};

    for (size_t start = 0; start < moments->count; start += BLOCK)
        add_block(&sums, values + start, block_at(start, moments->count), factor,
                  centre);
    centre_on_mean(moments, centre, &sums);
}

static void set_not_finite(struct stats_moments *moments, double mean)
{
    moments->scale = 1;
    moments->mean = mean;
    moments->mean_rest = 0;
    moments->squares = moments->cubes = moments->fourths = NAN;
}

void stats_moments_compute(struct stats_moments *moments, double *values, size_t size)
{
    size_t count = stats_drop_absent(values, size);
    double low, high;

    *moments = (struct stats_moments){
        count, size - count, INFINITY, -INFINITY, 1, 0, 0, 0, 0, 0};
    if (count == 0)
        return;
    gsl_stats_minmax(&low, &high, values, 1, count);
    moments->minimum = low;
    moments->maximum = high;
    if (isinf(low) || isinf(high)) {
        set_not_finite(moments, low + high);
        return;
    }
    moments->scale = scale_for(high > -low ? high : -low);
    if (low == high) /* exactly, which their rounded mean need not be */
        moments->mean = low / moments->scale;
    else
        compute_finite(moments, values);
}

/* `scale` is a power of two not below the one in use. */
static void rescale(struct stats_moments *moments, double scale)
{
    double factor = moments->scale / scale;

    moments->scale = scale;
    moments->mean *= factor;
    moments->mean_rest *= factor;
    moments->squares *= factor * factor;
    moments->cubes *= factor * factor * factor;
    moments->fourths *= factor * factor * factor * factor;
}

/* Both in one scale, finite and not empty. */
static void merge_finite(struct stats_moments *target,
                         const struct stats_moments *source)
{
    double count = (double)(target->count + source->count);
    double a = (double)target->count / count;
    double b = (double)source->count / count;
    double shift =
        (source->mean - target->mean) + (source->mean_rest - target->mean_rest);
    double square = shift * shift;
    double spread = count * a * b * square;
    struct stats_sum mean = {target->mean, target->mean_rest};

    stats_sum_add(&mean, shift * b);
    target->mean = mean.total;
    target->mean_rest = mean.lost;
    target->fourths +=
        source->fourths + spread * square * (a * a - a * b + b * b) +
        6 * square * (a * a * source->squares + b * b * target->squares) +
        4 * shift * (a * source->cubes - b * target->cubes);
    target->cubes += source->cubes + spread * shift * (a - b) +
                     3 * shift * (a * source->squares - b * target->squares);
    target->squares += source->squares + spread;
}

void stats_moments_merge(struct stats_moments *target,
                         const struct stats_moments *source)
{
    struct stats_moments other = *source;
    size_t absent = target->absent + source->absent;

    if (target->count == 0) {
        *target = other;
    } else if (other.count > 0) {
        double scale = fmax(target->scale, other.scale);
        if (isfinite(target->mean) && isfinite(other.mean)) {
            rescale(target, scale);
            rescale(&other, scale);
            merge_finite(target, &other);
        } else {
            set_not_finite(target, target->mean + other.mean);
        }
        target->count += other.count;
        target->minimum = fmin(target->minimum, other.minimum);
        target->maximum = fmax(target->maximum, other.maximum);
    }
    target->absent = absent;
}

double stats_moments_minimum(const struct stats_moments *moments)
{
    return moments->count ? moments->minimum : NAN;
}

double stats_moments_maximum(const struct stats_moments *moments)
{
    return moments->count ? moments->maximum : NAN;
}

double stats_moments_mean(const struct stats_moments *moments)
{
    if (moments->count == 0)
        return NAN;
    return moments->scale * (moments->mean + moments->mean_rest);
}

double stats_moments_sd(const struct stats_moments *moments)
{
    return moments->scale * sqrt(moments->squares / (double)moments->count);
}

double stats_moments_sd_sample(const struct stats_moments *moments)
{
    if (moments->count < 2)
        return NAN;
    return moments->scale * sqrt(moments->squares / (double)(moments->count - 1));
}

/* The division of 0 by 0 gives the NaN of no values, and of equal ones. */
double stats_moments_skewness(const struct stats_moments *moments)
{
    double count = (double)moments->count;
    double variance = moments->squares / count;

    return moments->cubes / count / (variance * sqrt(variance));
}

double stats_moments_kurtosis(const struct stats_moments *moments)
{
    double count = (double)moments->count;
    double variance = moments->squares / count;

    return moments->fourths / count / (variance * variance) - 3;
}
