/*
 * High dynamic range histogram: log-linear buckets with a fixed relative precision.
 *
 * One writer records; any thread may read meanwhile, because every field that changes
 * is written and read by relaxed atomic loads and stores (no read-modify-write, so
 * plain moves on common machines). A reader may see the parts of a recording in any
 * order; what it misses it sees the next time. Merging is exact: equal layouts add up.
 *
 * The buckets are those of HdrHistogram with unit 1. With 3 digits a bucket spans less
 * than 1/1000 of its value and a reported value, the middle of its bucket, is within
 * 0.05 %.
 */
#ifndef BENCHKIT_HISTOGRAM_H
#define BENCHKIT_HISTOGRAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum { HISTOGRAM_DIGITS_MAX = 4 };

struct histogram {
    int64_t highest;          /* values above are counted in `overflow` */
    int digits;               /* significant decimal digits */
    int sub_bucket_bits;      /* log2 of sub buckets per bucket */
    uint32_t count_size;      /* number of counts */
    _Atomic uint64_t *counts; /* owned */
    _Atomic int64_t max;      /* largest value recorded, exact; 0 when empty */
    _Atomic int64_t min;      /* smallest value recorded, exact; INT64_MAX when empty */
    _Atomic int64_t sum;      /* of all values recorded; stays at INT64_MAX */
    _Atomic uint64_t total;   /* values recorded, overflow included */
    _Atomic uint64_t overflow;
};

/* Make an empty histogram for 0..highest. ERROR_INVALID for highest < 2 or digits
 * outside 1..4, ERROR_SYSTEM without memory. Nothing is allocated afterwards. */
int histogram_init(struct histogram *histogram, int64_t highest, int digits,
                   struct error *error);

/* Free the counts; fine on a zeroed struct. */
void histogram_fini(struct histogram *histogram);

/* Count one value; negative values count as 0. Single writer. */
void histogram_record(struct histogram *histogram, int64_t value);

/* Add what `source` holds now to `target`, of which the caller is the writer;
 * ERROR_INVALID if their layouts differ. */
int histogram_merge(struct histogram *target, const struct histogram *source,
                    struct error *error);

/* Forget everything, keep the memory. For the writer. */
void histogram_reset(struct histogram *histogram);

/* True if layouts, counts and overflow are equal. */
bool histogram_equal(const struct histogram *one, const struct histogram *other);

/* The value at `percentile` (0..100): that of the smallest bucket at or below which at
 * least this share of the values lies, as the middle of the bucket, limited to
 * min..max. ERROR_INVALID when empty or out of range. Values in `overflow` read as
 * `max`. */
int histogram_percentile(const struct histogram *histogram, double percentile,
                         int64_t *value, struct error *error);

/* Index of the count that `value` (0..highest) falls into. */
uint32_t histogram_index(const struct histogram *histogram, int64_t value);

/* Lowest value of bucket `index`, and how many values it covers. */
int64_t histogram_lowest(const struct histogram *histogram, uint32_t index);
int64_t histogram_width(const struct histogram *histogram, uint32_t index);

/* Values counted in bucket `index`. */
static inline uint64_t histogram_count(const struct histogram *histogram,
                                       uint32_t index)
{
    return atomic_load_explicit(&histogram->counts[index], memory_order_relaxed);
}

/* Count `count` values that lie in bucket `index`, each as the middle of it; min and
 * max widen to the bucket's. For the writer. */
void histogram_add(struct histogram *histogram, uint32_t index, uint64_t count);

/* The buckets outside first..last are empty; an empty histogram has first > last. */
struct histogram_span {
    uint32_t first;
    uint32_t last;
};

struct histogram_span histogram_span(const struct histogram *histogram);

/* Set `target` = what has been recorded in `now` since the last call, and remember
 * `now` in `seen` (a histogram that only this function writes, empty at first). All
 * layouts equal. Looks only at buckets that were ever used. min and max of `target` are
 * those of its buckets, exact where `now`'s are new; with overflow max is `now`'s. */
void histogram_difference(const struct histogram *now, struct histogram *seen,
                          struct histogram *target);

/* Write the counts as HdrHistogram V2 payload (zigzag LEB128; runs of zeros as
 * negative numbers) to `out`; returns the length. `out` holds
 * histogram_encoded_limit() bytes. The overflow is not part of the format. */
size_t histogram_encode(const struct histogram *histogram, unsigned char *out);
size_t histogram_encoded_limit(const struct histogram *histogram);

/* Add the counts of such a payload; min, max and sum follow from the buckets.
 * ERROR_INVALID if it is damaged or too long, then nothing is added. */
int histogram_decode(struct histogram *histogram, const unsigned char *payload,
                     size_t length, struct error *error);

#endif
