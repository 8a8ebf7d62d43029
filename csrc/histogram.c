/*
 * Buckets, recording, merging, percentiles. The wire format is in histogram_codec.c.
 *
 * Bucket 0 counts 0..2^bits-1 one by one; each further bucket doubles the width and
 * adds 2^(bits-1) counts, because the lower half of its values is in the one before.
 * min and max tell which counts were ever touched, so no scan looks at the others.
 */
#include "histogram.h"

#include "error.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE_BYTES = 64 };

static void add(_Atomic uint64_t *counter, uint64_t amount)
{
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);

    atomic_store_explicit(counter, now + amount, memory_order_relaxed);
}

static uint64_t count_of(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static int64_t load(const _Atomic int64_t *field)
{
    return atomic_load_explicit(field, memory_order_relaxed);
}

static void store(_Atomic int64_t *field, int64_t value)
{
    atomic_store_explicit(field, value, memory_order_relaxed);
}

static void add_sum(struct histogram *histogram, int64_t amount)
{
    int64_t sum;

    if (__builtin_add_overflow(load(&histogram->sum), amount, &sum))
        sum = INT64_MAX;
    store(&histogram->sum, sum);
}

/* Widen min..max to hold `low`..`high`. */
static void widen(struct histogram *histogram, int64_t low, int64_t high)
{
    if (low < load(&histogram->min))
        store(&histogram->min, low);
    if (high > load(&histogram->max))
        store(&histogram->max, high);
}

/* log2 of the smallest power of two that holds 2 * 10^digits. */
static int bits_for_digits(int digits)
{
    static const int bits[] = {[1] = 5, [2] = 8, [3] = 11, [4] = 15};

    return bits[digits];
}

/* How often the width of bucket 0 is doubled for `value`. */
static int doublings(const struct histogram *histogram, int64_t value)
{
    uint64_t lowest_bits = (UINT64_C(1) << histogram->sub_bucket_bits) - 1;

    return 64 - __builtin_clzll((uint64_t)value | lowest_bits) -
           histogram->sub_bucket_bits;
}

int histogram_init(struct histogram *histogram, int64_t highest, int digits,
                   struct error *error)
{
    struct histogram made = {.highest = highest, .digits = digits};
    size_t bytes;

    if (highest < 2)
        return error_set(error, ERROR_INVALID,
                         "a histogram's highest value must be at least 2, not %lld",
                         (long long)highest);
    if (digits < 1 || digits > HISTOGRAM_DIGITS_MAX)
        return error_set(error, ERROR_INVALID,
                         "a histogram's digits must be 1 to %d, not %d",
                         HISTOGRAM_DIGITS_MAX, digits);
    made.sub_bucket_bits = bits_for_digits(digits);
    made.count_size = (uint32_t)(doublings(&made, highest) + 2)
                      << (made.sub_bucket_bits - 1);
    /* calloc, so that counts never used take no memory; one cache line more, so that
     * what another thread writes behind them does not slow down this one. */
    bytes = made.count_size * sizeof *made.counts + CACHE_LINE_BYTES;
    made.counts = calloc(1, bytes);
    if (!made.counts)
        return error_set_memory(error);
    made.min = INT64_MAX;
    memcpy(histogram, &made, sizeof made);
    return 0;
}

void histogram_fini(struct histogram *histogram)
{
    free((void *)histogram->counts);
    histogram->counts = NULL;
}

uint32_t histogram_index(const struct histogram *histogram, int64_t value)
{
    int shift = doublings(histogram, value);

    assert(value >= 0);
    return ((uint32_t)shift << (histogram->sub_bucket_bits - 1)) +
           (uint32_t)(value >> shift);
}

/* The doublings of bucket `index`. */
static int shift_of(const struct histogram *histogram, uint32_t index)
{
    uint32_t half = index >> (histogram->sub_bucket_bits - 1);

    return half > 1 ? (int)half - 1 : 0;
}

int64_t histogram_lowest(const struct histogram *histogram, uint32_t index)
{
    int shift = shift_of(histogram, index);
    uint32_t base = (uint32_t)shift << (histogram->sub_bucket_bits - 1);

    return (int64_t)(index - base) << shift;
}

int64_t histogram_width(const struct histogram *histogram, uint32_t index)
{
    return INT64_C(1) << shift_of(histogram, index);
}

static int64_t middle(const struct histogram *histogram, uint32_t index)
{
    return histogram_lowest(histogram, index) + histogram_width(histogram, index) / 2;
}

static int64_t top(const struct histogram *histogram, uint32_t index)
{
    return histogram_lowest(histogram, index) + (histogram_width(histogram, index) - 1);
}

struct histogram_span histogram_span(const struct histogram *histogram)
{
    struct histogram_span none = {1, 0};
    struct histogram_span span = {0, histogram->count_size - 1};
    int64_t min = load(&histogram->min);
    int64_t max = load(&histogram->max);

    if (min > max)
        return none;
    if (min <= histogram->highest)
        span.first = histogram_index(histogram, min);
    if (max <= histogram->highest)
        span.last = histogram_index(histogram, max);
    return span;
}

void histogram_record(struct histogram *histogram, int64_t value)
{
    if (value < 0)
        value = 0;
    widen(histogram, value, value);
    add_sum(histogram, value);
    add(&histogram->total, 1);
    if (value > histogram->highest)
        add(&histogram->overflow, 1);
    else
        add(&histogram->counts[histogram_index(histogram, value)], 1);
}

void histogram_add(struct histogram *histogram, uint32_t index, uint64_t count)
{
    int64_t sum;

    if (__builtin_mul_overflow(middle(histogram, index), count, &sum))
        sum = INT64_MAX;
    widen(histogram, histogram_lowest(histogram, index), top(histogram, index));
    add_sum(histogram, sum);
    add(&histogram->total, count);
    add(&histogram->counts[index], count);
}

static bool same_layout(const struct histogram *one, const struct histogram *other)
{
    return one->highest == other->highest && one->digits == other->digits;
}

int histogram_merge(struct histogram *target, const struct histogram *source,
                    struct error *error)
{
    struct histogram_span span = histogram_span(source);

    if (!same_layout(target, source))
        return error_set(error, ERROR_INVALID,
                         "histograms of highest %lld with %d digits and highest %lld "
                         "with %d digits cannot be merged",
                         (long long)target->highest, target->digits,
                         (long long)source->highest, source->digits);
    for (uint32_t i = span.first; i <= span.last; i++)
        add(&target->counts[i], count_of(&source->counts[i]));
    widen(target, load(&source->min), load(&source->max));
    add_sum(target, load(&source->sum));
    add(&target->total, count_of(&source->total));
    add(&target->overflow, count_of(&source->overflow));
    return 0;
}

void histogram_reset(struct histogram *histogram)
{
    struct histogram_span span = histogram_span(histogram);

    for (uint32_t i = span.first; i <= span.last; i++)
        atomic_store_explicit(&histogram->counts[i], 0, memory_order_relaxed);
    store(&histogram->min, INT64_MAX);
    store(&histogram->max, 0);
    store(&histogram->sum, 0);
    atomic_store_explicit(&histogram->total, 0, memory_order_relaxed);
    atomic_store_explicit(&histogram->overflow, 0, memory_order_relaxed);
}

bool histogram_equal(const struct histogram *one, const struct histogram *other)
{
    if (!same_layout(one, other) ||
        count_of(&one->overflow) != count_of(&other->overflow))
        return false;
    for (uint32_t i = 0; i < one->count_size; i++)
        if (count_of(&one->counts[i]) != count_of(&other->counts[i]))
            return false;
    return true;
}

/* How many of `total` values make up `percentile`; at least one. A product that is off
 * an integer only by rounding (99.9 % of 1000) counts as that integer. */
static uint64_t rank_of(double percentile, uint64_t total)
{
    double exact = percentile / 100 * (double)total;
    double rank = ceil(exact * (1 - 4 * DBL_EPSILON));

    return rank < 1 ? 1 : (uint64_t)rank;
}

static int64_t limit(int64_t value, int64_t low, int64_t high)
{
    if (value < low)
        return low;
    return value > high ? high : value;
}

int histogram_percentile(const struct histogram *histogram, double percentile,
                         int64_t *value, struct error *error)
{
    struct histogram_span span = histogram_span(histogram);
    int64_t max = load(&histogram->max);
    uint64_t below = 0;
    uint64_t rank;

    if (!(percentile >= 0 && percentile <= 100))
        return error_set(error, ERROR_INVALID, "a percentile must be 0 to 100, not %g",
                         percentile);
    if (!count_of(&histogram->total))
        return error_set(error, ERROR_INVALID, "an empty histogram has no percentiles");
    rank = rank_of(percentile, count_of(&histogram->total));
    *value = max;
    for (uint32_t i = span.first; i <= span.last; i++) {
        below += count_of(&histogram->counts[i]);
        if (below >= rank) {
            *value = limit(middle(histogram, i), load(&histogram->min), max);
            break;
        }
    }
    return 0;
}

/* Put the min and max of `target`, whose counts are in first..last, right. */
static void bound_difference(const struct histogram *now, const struct histogram *seen,
                             struct histogram *target, struct histogram_span used)
{
    int64_t min = load(&now->min);
    int64_t max = load(&now->max);
    bool counted = used.first <= used.last;
    bool overflowed = count_of(&target->overflow) > 0;

    if (max <= load(&seen->max) && !overflowed && counted)
        max = limit(top(target, used.last), 0, max);
    if (min >= load(&seen->min))
        min = counted ? limit(histogram_lowest(target, used.first), min, max) : max;
    store(&target->min, min);
    store(&target->max, max);
}

void histogram_difference(const struct histogram *now, struct histogram *seen,
                          struct histogram *target)
{
    struct histogram_span span = histogram_span(now);
    struct histogram_span used = {now->count_size, 0};
    int64_t sum = load(&now->sum);
    uint64_t overflow = count_of(&now->overflow) - count_of(&seen->overflow);

    assert(same_layout(now, seen) && same_layout(now, target));
    histogram_reset(target);
    for (uint32_t i = span.first; i <= span.last; i++) {
        uint64_t fresh = count_of(&now->counts[i]) - count_of(&seen->counts[i]);
        if (fresh) {
            used.first = used.first < i ? used.first : i;
            used.last = i;
            add(&target->counts[i], fresh);
            add(&target->total, fresh);
            add(&seen->counts[i], fresh);
        }
    }
    add(&target->overflow, overflow);
    add(&seen->overflow, overflow);
    add(&target->total, overflow);
    if (!count_of(&target->total))
        return;
    store(&target->sum, sum - load(&seen->sum));
    store(&seen->sum, sum);
    bound_difference(now, seen, target, used);
    widen(seen, load(&now->min), load(&now->max));
    add(&seen->total, count_of(&target->total));
}
