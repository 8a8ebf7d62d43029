/*
 * The series of a run: one row for each interval, made from what the workers count.
 *
 * The controller calls sampler_take_due() while the run goes on and sampler_take_last()
 * once its workers have ended. It only reads their recorders. Counts there never go
 * down, and the last row is taken after the end, so the rows of the measurement add up
 * exactly to its totals. (The last row of the warmup is taken when the first of the
 * measurement is due; what a worker records later still belongs to no row.)
 */
#ifndef BENCHKIT_SAMPLER_H
#define BENCHKIT_SAMPLER_H

#include "histogram.h"
#include "outcome.h"

#include <stdint.h>

struct error;
struct program;
struct schedule;
struct worker;

/* One row of the series. All fields have 8 bytes: the binding reads the array as a
 * NumPy structured array. Times are NAN where no transaction committed. */
struct interval_row {
    double time_s;    /* end of the interval, from the start of the warmup */
    double elapsed_s; /* its length */
    int64_t phase;
    int64_t committed;
    int64_t rolled_back;
    int64_t failed;
    int64_t retries;
    int64_t statements;
    int64_t reads;
    int64_t writes;
    int64_t other;
    int64_t errors;
    double response_mean_s;
    double response_p50_s;
    double response_p95_s;
    double response_p99_s;
    double response_max_s;
};

/* What is sampled; all of it is shared with the driver and the workers. */
struct sampled {
    const struct program *program;
    const struct schedule *schedule;
    const struct worker *workers;
    uint32_t worker_count;
};

struct sampler {
    struct sampled of;
    int64_t interval_ns;
    int64_t row_ns;     /* where the next row begins */
    int64_t warmup_ns;  /* where the last row of the warmup begins, while it is due */
    uint32_t tag_count; /* transactions, then statement labels */
    struct histogram *seen[PHASE_COUNT];     /* by tag: what earlier rows hold */
    struct histogram *interval;              /* by tag: the last row's values */
    struct histogram *merged;                /* by tag: scratch */
    struct histogram response;               /* of all transactions in the last row */
    struct interval_row totals[PHASE_COUNT]; /* sums of the counts of earlier rows */
    struct interval_row *rows;               /* owned */
    uint32_t row_count;
};

/* ERROR_SYSTEM without memory. */
int sampler_init(struct sampler *sampler, const struct sampled *of, int64_t interval_ns,
                 struct error *error);
void sampler_fini(struct sampler *sampler);

/* The schedule has been set: the first row begins with the run. */
void sampler_begin(struct sampler *sampler);

/* When sampler_take_due() has something to do; INT64_MAX if not before the end. */
int64_t sampler_due_ns(const struct sampler *sampler);

/* Append the row that is due at `now_ns`: 1, with its values in `interval`; 0 if none
 * is; -1 without memory. A caller that is late gets one longer row. */
int sampler_take_due(struct sampler *sampler, int64_t now_ns, struct error *error);

/* All workers have ended at `ended_ns`, the measurement at `measured_ns`: append a row
 * that had to wait for it. Results as above; call until it is 0. */
int sampler_take_last(struct sampler *sampler, int64_t measured_ns, int64_t ended_ns,
                      struct error *error);

#endif
