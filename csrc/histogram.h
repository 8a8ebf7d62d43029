/*
 * High dynamic range histogram: log-linear buckets with a fixed relative precision.
 *
 * One writer records; any thread may read counts meanwhile, because each count is
 * written and read by relaxed atomic loads and stores (no read-modify-write, so a
 * plain move on common machines). Merging is exact: equal layouts add up.
 *
 * With unit 1 and 3 digits, a bucket spans less than 1/1000 of its value and a
 * reported value, the middle of its bucket, is within 0.05 %.
 */
#ifndef BENCHKIT_HISTOGRAM_H
#define BENCHKIT_HISTOGRAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

struct histogram {
    int64_t highest;        /* values above are counted in `overflow` */
    int digits;             /* significant decimal digits, 1..4 */
    int sub_bucket_bits;    /* log2 of sub buckets per bucket */
    uint32_t count_size;    /* number of counts */
    _Atomic uint32_t first; /* lowest index ever recorded; count_size when empty */
    _Atomic uint32_t last;  /* highest index ever recorded */
    _Atomic int64_t max;    /* largest value recorded, exact */
    _Atomic int64_t min;    /* smallest value recorded, exact; INT64_MAX when empty */
    _Atomic int64_t sum;    /* of all values recorded */
    _Atomic uint64_t total; /* values recorded, overflow included */
    _Atomic uint64_t overflow;
    _Atomic uint64_t *counts; /* owned */
};

/* Make an empty histogram for 0..highest. ERROR_INVALID for highest < 2 or digits
 * outside 1..4, ERROR_SYSTEM without memory. Nothing is allocated afterwards. */
int histogram_init(struct histogram *histogram, int64_t highest, int digits,
                   struct error *error);

/* Free the counts; fine on a zeroed struct. */
void histogram_fini(struct histogram *histogram);

/* Count one value; negative values count as 0. Single writer. */
void histogram_record(struct histogram *histogram, int64_t value);

/* Add what `source` holds now to `target`; ERROR_INVALID if their layouts differ. */
int histogram_merge(struct histogram *target, const struct histogram *source,
                    struct error *error);

/* Forget everything, keep the memory. */
void histogram_reset(struct histogram *histogram);

/* The value at `percentile` (0..100): the smallest bucket at or below which at least
 * that share of the values lies, as the middle of the bucket, limited to min..max.
 * ERROR_INVALID when empty or out of range. Values in `overflow` read as `max`. */
int histogram_percentile(const struct histogram *histogram, double percentile,
                         int64_t *value, struct error *error);

/* Index of the count that `value` (0..highest) falls into. */
uint32_t histogram_index(const struct histogram *histogram, int64_t value);

/* Lowest value of bucket `index`, and how many values it covers. */
int64_t histogram_lowest(const struct histogram *histogram, uint32_t index);
int64_t histogram_width(const struct histogram *histogram, uint32_t index);

/* Set `target` = what has been recorded in `now` since the last call, and remember
 * `now` in `seen` (a histogram that only this function writes). All layouts equal.
 * min and max of `target` are those of its buckets, exact where `now`'s are new. */
void histogram_difference(const struct histogram *now, struct histogram *seen,
                          struct histogram *target);

/* Write the counts as HdrHistogram V2 payload (zigzag LEB128; runs of zeros as
 * negative numbers) to `out`; returns the length. `out` holds
 * histogram_encoded_limit() bytes. */
size_t histogram_encode(const struct histogram *histogram, unsigned char *out);
size_t histogram_encoded_limit(const struct histogram *histogram);

/* Add the counts of such a payload. ERROR_INVALID if it is damaged or too long. */
int histogram_decode(struct histogram *histogram, const unsigned char *payload,
                     size_t length, struct error *error);

#endif
