/*
 * Intervals of a run: what all workers together did since the last look.
 *
 * The sampler only reads the workers' recorders, while they write or after they have
 * ended. Counts in recorders never go down, so the rows of a phase add up exactly to
 * that phase's totals once the last one was taken after the end.
 */
#ifndef BENCHKIT_SAMPLER_H
#define BENCHKIT_SAMPLER_H

#include "histogram.h"
#include "outcome.h"

#include <stdint.h>

struct error;
struct program;
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

struct sampler {
    const struct program *program;
    const struct worker *workers;
    uint32_t worker_count;
    uint32_t tag_count;                      /* transactions, then statement labels */
    struct histogram *seen[PHASE_COUNT];     /* by tag: what earlier rows hold */
    struct histogram *interval;              /* by tag: the last row's values */
    struct histogram *merged;                /* by tag: scratch */
    struct histogram response;               /* of all transactions in the last row */
    struct interval_row totals[PHASE_COUNT]; /* sums of the counts of earlier rows */
    struct interval_row *rows;               /* owned */
    uint32_t row_count;
};

/* `workers` are read at each sampler_take(). ERROR_SYSTEM without memory. */
int sampler_init(struct sampler *sampler, const struct program *program,
                 const struct worker *workers, uint32_t worker_count,
                 struct error *error);
void sampler_fini(struct sampler *sampler);

/* Append the row of `phase` that began at begin_ns and ends at end_ns, both from the
 * start of the run; `interval` then holds its histograms. */
int sampler_take(struct sampler *sampler, enum phase phase, int64_t begin_ns,
                 int64_t end_ns, struct error *error);

#endif
