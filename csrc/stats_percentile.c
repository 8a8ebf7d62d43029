/*
 * GSL's quantiles are of sorted data, and NaN next to an infinity; so the rule, which
 * is the same, is written here.
 */
#include "stats_percentile.h"

#include "stats_absent.h"
#include "stats_order.h"

#include "error.h"

#include <gsl/gsl_sort_double.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

bool stats_is_percentile(double percentile)
{
    return percentile >= 0 && percentile <= 100;
}

static double place_of(double percentile, size_t size)
{
    return percentile / 100 * (double)(size - 1);
}

static int compare_ranks(const void *one, const void *other)
{
    size_t a = *(const size_t *)one;
    size_t b = *(const size_t *)other;

    return (a > b) - (a < b);
}

/* Fill `ranks` with those on both sides of each place, ascending; returns how many. */
static size_t list_ranks(const struct stats_percentiles *wanted, size_t size)
{
    size_t *ranks = wanted->ranks;
    size_t count = 0;
    bool ascending = true;

    for (size_t i = 0; i < wanted->count; i++) {
        size_t low = (size_t)place_of(wanted->at[i], size);
        size_t high = low + 1 < size ? low + 1 : low;
        if (count > 0 && low == ranks[count - 2])
            continue;
        ascending = ascending && (count == 0 || low >= ranks[count - 1]);
        ranks[count++] = low;
        ranks[count++] = high;
    }
    if (!ascending)
        qsort(ranks, count, sizeof *ranks, compare_ranks);
    return count;
}

/* The value at `place` of values whose ranks on both sides are in their places. */
static double value_at(const double *values, double place)
{
    size_t rank = (size_t)place;
    double share = place - (double)rank;
    double low = values[rank], high, value;

    if (share == 0)
        return low;
    high = values[rank + 1];
    if (low == high)
        return low;
    value = (1 - share) * low + share * high;
    if (value < low)
        return low;
    return value > high ? high : value;
}

void stats_percentiles(double *values, size_t size,
                       const struct stats_percentiles *wanted, double *results)
{
    size_t present = stats_drop_absent(values, size);

    if (present > 0) {
        size_t ranks = list_ranks(wanted, present);
        stats_order(values, present, wanted->ranks, ranks);
    }
    for (size_t i = 0; i < wanted->count; i++)
        results[i] = present ? value_at(values, place_of(wanted->at[i], present)) : NAN;
}

/* Keep the values that are present and have a weight. */
static int drop_weightless(struct stats_weighted *weighted, struct error *error)
{
    size_t kept = 0;

    for (size_t i = 0; i < weighted->size; i++) {
        double value = weighted->values[i], weight = weighted->weights[i];
        if (isnan(value) || weight == 0)
            continue;
        if (!(weight > 0))
            return error_set(error, ERROR_INVALID, "a weight must be 0 or more, not %g",
                             weight);
        weighted->values[kept] = value;
        weighted->weights[kept++] = weight;
    }
    weighted->size = kept;
    return 0;
}

static bool is_sorted(const double *values, size_t size)
{
    for (size_t i = 1; i < size; i++)
        if (values[i - 1] > values[i])
            return false;
    return true;
}

int stats_weighted_prepare(struct stats_weighted *weighted, struct error *error)
{
    double total = 0;

    if (drop_weightless(weighted, error))
        return -1;
    if (!is_sorted(weighted->values, weighted->size))
        gsl_sort2(weighted->values, 1, weighted->weights, 1, weighted->size);
    for (size_t i = 0; i < weighted->size; i++)
        weighted->weights[i] = total += weighted->weights[i];
    if (isinf(total))
        return error_set(error, ERROR_INVALID, "the weights have no finite sum");
    return 0;
}

double stats_weighted_percentile(const struct stats_weighted *prepared,
                                 double percentile)
{
    size_t low = 0, high = prepared->size;
    double share;

    if (high == 0)
        return NAN;
    /* A product that is off a weight only by rounding counts as that weight. */
    share = percentile / 100 * prepared->weights[high - 1] * (1 - 4 * DBL_EPSILON);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (prepared->weights[middle] < share)
            low = middle + 1;
        else
            high = middle;
    }
    return prepared->values[low];
}
