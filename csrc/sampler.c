/*
 * Intervals by difference. The cost is one pass over the used part of each worker's
 * histograms per interval.
 */
#include "sampler.h"

#include "array.h"
#include "clock.h"
#include "error.h"
#include "program.h"
#include "recorder.h"
#include "worker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int digits_of(const struct sampler *sampler, uint32_t tag)
{
    return tag < sampler->program->transaction_count ? RECORDER_TRANSACTION_DIGITS
                                                     : RECORDER_STATEMENT_DIGITS;
}

/* One empty histogram for each tag; NULL with `error` filled. */
static struct histogram *make_set(const struct sampler *sampler, struct error *error)
{
    struct histogram *set = calloc(sampler->tag_count, sizeof *set);

    if (!set) {
        error_set_memory(error);
        return NULL;
    }
    for (uint32_t tag = 0; tag < sampler->tag_count; tag++)
        if (histogram_init(&set[tag], RECORDER_HIGHEST_NS, digits_of(sampler, tag),
                           error)) {
            for (uint32_t i = 0; i < tag; i++)
                histogram_fini(&set[i]);
            free(set);
            return NULL;
        }
    return set;
}

static void free_set(const struct sampler *sampler, struct histogram *set)
{
    for (uint32_t tag = 0; set && tag < sampler->tag_count; tag++)
        histogram_fini(&set[tag]);
    free(set);
}

int sampler_init(struct sampler *sampler, const struct program *program,
                 const struct worker *workers, uint32_t worker_count,
                 struct error *error)
{
    int status = 0;

    memset(sampler, 0, sizeof *sampler);
    sampler->program = program;
    sampler->workers = workers;
    sampler->worker_count = worker_count;
    sampler->tag_count = program->transaction_count + program->label_count;
    for (int phase = 0; !status && phase < PHASE_COUNT; phase++)
        status = (sampler->seen[phase] = make_set(sampler, error)) ? 0 : -1;
    if (!status)
        status = (sampler->interval = make_set(sampler, error)) ? 0 : -1;
    if (!status)
        status = (sampler->merged = make_set(sampler, error)) ? 0 : -1;
    if (!status)
        status = histogram_init(&sampler->response, RECORDER_HIGHEST_NS,
                                RECORDER_TRANSACTION_DIGITS, error);
    if (status)
        sampler_fini(sampler);
    return status;
}

void sampler_fini(struct sampler *sampler)
{
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        free_set(sampler, sampler->seen[phase]);
    free_set(sampler, sampler->interval);
    free_set(sampler, sampler->merged);
    histogram_fini(&sampler->response);
    free(sampler->rows);
    memset(sampler, 0, sizeof *sampler);
}

/* The histogram of `tag` in one worker's counts. */
static const struct histogram *tag_of(const struct sampler *sampler,
                                      const struct phase_counts *counts, uint32_t tag)
{
    uint32_t transactions = sampler->program->transaction_count;

    return tag < transactions ? &counts->transactions[tag].response
                              : &counts->statements[tag - transactions].response;
}

static int difference(struct sampler *sampler, enum phase phase, struct error *error)
{
    histogram_reset(&sampler->response);
    for (uint32_t tag = 0; tag < sampler->tag_count; tag++) {
        histogram_reset(&sampler->merged[tag]);
        for (uint32_t i = 0; i < sampler->worker_count; i++)
            if (histogram_merge(
                    &sampler->merged[tag],
                    tag_of(sampler, &sampler->workers[i].recorder.phases[phase], tag),
                    error))
                return -1;
        histogram_difference(&sampler->merged[tag], &sampler->seen[phase][tag],
                             &sampler->interval[tag]);
        if (tag < sampler->program->transaction_count &&
            histogram_merge(&sampler->response, &sampler->interval[tag], error))
            return -1;
    }
    return 0;
}

static void add_transactions(const struct transaction_counts *counts,
                             struct interval_row *sum)
{
    sum->committed += (int64_t)count_read(&counts->outcomes[OUTCOME_COMMITTED]);
    sum->rolled_back += (int64_t)count_read(&counts->outcomes[OUTCOME_ROLLED_BACK]);
    sum->failed += (int64_t)count_read(&counts->outcomes[OUTCOME_FAILED]);
    sum->retries += (int64_t)count_read(&counts->retries);
}

static void add_statements(const struct statement_counts *counts,
                           struct interval_row *sum)
{
    sum->statements += (int64_t)count_read(&counts->executions);
    sum->reads += (int64_t)count_read(&counts->results);
    sum->writes += (int64_t)count_read(&counts->writes);
    sum->errors += (int64_t)count_read(&counts->errors);
}

/* All that the workers have counted in `phase` so far. */
static struct interval_row sum_counts(const struct sampler *sampler, enum phase phase)
{
    const struct program *program = sampler->program;
    struct interval_row sum = {0};

    for (uint32_t worker = 0; worker < sampler->worker_count; worker++) {
        const struct phase_counts *counts =
            &sampler->workers[worker].recorder.phases[phase];
        for (uint32_t i = 0; i < program->transaction_count; i++)
            add_transactions(&counts->transactions[i], &sum);
        for (uint32_t i = 0; i < program->label_count; i++)
            add_statements(&counts->statements[i], &sum);
    }
    return sum;
}

static void subtract_counts(struct interval_row *row, const struct interval_row *before)
{
    row->committed -= before->committed;
    row->rolled_back -= before->rolled_back;
    row->failed -= before->failed;
    row->retries -= before->retries;
    row->statements -= before->statements;
    row->reads -= before->reads;
    row->writes -= before->writes;
    row->errors -= before->errors;
    row->other = row->statements - row->reads - row->writes - row->errors;
}

static double percentile_s(const struct histogram *histogram, double percentile)
{
    struct error error;
    int64_t value_ns;

    if (histogram_percentile(histogram, percentile, &value_ns, &error))
        return NAN;
    return (double)value_ns / CLOCK_NS_PER_S;
}

static void set_times(struct interval_row *row, const struct histogram *response)
{
    uint64_t total = count_read(&response->total);

    row->response_mean_s = NAN;
    if (total)
        row->response_mean_s =
            (double)atomic_load_explicit(&response->sum, memory_order_relaxed) /
            (double)total / CLOCK_NS_PER_S;
    row->response_p50_s = percentile_s(response, 50);
    row->response_p95_s = percentile_s(response, 95);
    row->response_p99_s = percentile_s(response, 99);
    row->response_max_s = percentile_s(response, 100);
}

static struct interval_row *append_row(struct sampler *sampler, struct error *error)
{
    struct interval_row *grown =
        array_extend(sampler->rows, sampler->row_count, sizeof *grown);

    if (!grown) {
        error_set_memory(error);
        return NULL;
    }
    sampler->rows = grown;
    return &grown[sampler->row_count++];
}

int sampler_take(struct sampler *sampler, enum phase phase, int64_t begin_ns,
                 int64_t end_ns, struct error *error)
{
    struct interval_row now = sum_counts(sampler, phase);
    struct interval_row *row = append_row(sampler, error);

    if (!row || difference(sampler, phase, error))
        return -1;
    *row = now;
    subtract_counts(row, &sampler->totals[phase]);
    sampler->totals[phase] = now;
    row->time_s = (double)end_ns / CLOCK_NS_PER_S;
    row->elapsed_s = (double)(end_ns - begin_ns) / CLOCK_NS_PER_S;
    row->phase = phase;
    set_times(row, &sampler->response);
    return 0;
}
