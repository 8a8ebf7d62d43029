/*
 * Introselect for several ranks. Each step parts a range at a pivot and goes on where
 * there are ranks. The pivot comes from a random sample, just beyond the rank that is
 * nearest to the middle (Floyd and Rivest 1975): the rank ends up in the short part. A
 * fixed seed will do, because the order of the values, not the result, depends on it.
 */
#include "stats_order.h"

#include "rng.h"

#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <stdbool.h>

enum {
    FEW = 32,            /* values that are sorted by insertion */
    STEPS_PER_VALUE = 32 /* before heapsort takes over: about what sorting takes */
};

/* values[low..high-1] are no smaller than those before and no larger than those behind;
 * ranks[first..last-1] are in it. */
struct range {
    size_t low, high;
    size_t first, last;
};

struct selection {
    double *values;
    const size_t *ranks;
    size_t steps; /* left before heapsort */
    struct rng rng;
};

static void swap(double *one, double *other)
{
    double value = *one;

    *one = *other;
    *other = value;
}

static void sort_few(double *values, size_t size)
{
    for (size_t i = 1; i < size; i++) {
        double value = values[i];
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

/* Move values below the pivot (or equal to it) to the front; returns how many. Without
 * a branch on the values, which no processor could predict: one value is kept aside and
 * the gap it leaves goes through the array. */
static inline size_t part(double *values, size_t size, double pivot, bool or_equal)
{
    double aside;
    size_t front = 0;

    if (size == 0)
        return 0;
    aside = values[0];
    for (size_t i = 1; i < size; i++) {
        double value = values[i];
        values[i - 1] = values[front];
        values[front] = value;
        front += or_equal ? value <= pivot : value < pivot;
    }
    values[size - 1] = values[front];
    values[front] = aside;
    return front + (or_equal ? aside <= pivot : aside < pivot);
}

/* The first of the range's ranks that is not below `place`; range->last if none. */
static size_t first_rank_from(const struct selection *selection,
                              const struct range *range, size_t place)
{
    size_t low = range->first, high = range->last;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (selection->ranks[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t most_central_rank(const struct selection *selection,
                                const struct range *range)
{
    const size_t *ranks = selection->ranks;
    size_t middle = range->low + (range->high - range->low) / 2;
    size_t above = first_rank_from(selection, range, middle);

    if (above == range->first)
        return ranks[above];
    if (above == range->last || middle - ranks[above - 1] < ranks[above] - middle)
        return ranks[above - 1];
    return ranks[above];
}

/* Sort a random sample to the front of the range and move the pivot to its start. */
static double choose_pivot(struct selection *selection, const struct range *range)
{
    double *values = selection->values + range->low;
    size_t size = range->high - range->low;
    double root = sqrt((double)size);
    size_t sample = (size_t)root;
    double share =
        (double)(most_central_rank(selection, range) - range->low) / (double)size;
    double margin = share < 0.5 ? sqrt(root) : -sqrt(root);
    double at = fmin(fmax(share * root + margin, 0), (double)(sample - 1));

    for (size_t i = 0; i < sample; i++)
        swap(&values[i], &values[i + rng_below(&selection->rng, size - i)]);
    gsl_sort(values, 1, sample);
    swap(&values[0], &values[(size_t)at]);
    return values[0];
}

static void place(struct selection *selection, struct range range);

/* Go on in both parts: by recursion where there are fewer ranks, so that its depth is
 * at most the logarithm of their number; returns the other part. */
static struct range descend(struct selection *selection, struct range below,
                            struct range above)
{
    if (below.last - below.first < above.last - above.first) {
        place(selection, below);
        return above;
    }
    place(selection, above);
    return below;
}

/* One step; returns what is left to do, with no ranks at the end. */
static struct range divide(struct selection *selection, struct range range)
{
    double *values = selection->values;
    double pivot = choose_pivot(selection, &range);
    struct range below = range, above = range;

    if (range.low > 0 && values[range.low - 1] == pivot) {
        /* Nothing is smaller: all equal ones are in their places after this. */
        above.low += part(values + range.low, range.high - range.low, pivot, true);
        above.first = first_rank_from(selection, &range, above.low);
        return above;
    }
    below.high = range.low +
                 part(values + range.low + 1, range.high - range.low - 1, pivot, false);
    swap(&values[range.low], &values[below.high]);
    above.low = below.high + 1;
    below.last = first_rank_from(selection, &range, below.high);
    above.first = first_rank_from(selection, &range, above.low);
    return descend(selection, below, above);
}

static void place(struct selection *selection, struct range range)
{
    while (range.first < range.last) {
        size_t size = range.high - range.low;
        if (size <= FEW) {
            sort_few(selection->values + range.low, size);
            return;
        }
        if (selection->steps < size) {
            gsl_sort(selection->values + range.low, 1, size);
            return;
        }
        selection->steps -= size;
        range = divide(selection, range);
    }
}

void stats_order(double *values, size_t size, const size_t *ranks, size_t count)
{
    struct selection selection = {values, ranks, STEPS_PER_VALUE * size, {{0}}};
    const uint64_t seed = 1;

    if (size <= FEW) {
        sort_few(values, size);
        return;
    }
    rng_seed(&selection.rng, &seed, 1);
    place(&selection, (struct range){0, size, 0, count});
}
