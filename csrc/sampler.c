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
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { NO_TIME = -1 };

static void free_set(const struct sampler *sampler, struct histogram *set)
{
    for (uint32_t tag = 0; set && tag < sampler->tag_count; tag++)
        histogram_fini(&set[tag]);
    free(set);
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
        if (histogram_init(&set[tag], RECORDER_HIGHEST_NS, RECORDER_DIGITS, error)) {
            free_set(sampler, set);
            return NULL;
        }
    return set;
}

int sampler_init(struct sampler *sampler, const struct sampled *of, int64_t interval_ns,
                 struct error *error)
{
    int status = 0;

    memset(sampler, 0, sizeof *sampler);
    sampler->of = *of;
    sampler->interval_ns = interval_ns;
    sampler->warmup_ns = NO_TIME;
    sampler->tag_count = of->program->transaction_count + of->program->label_count;
    for (int phase = 0; !status && phase < PHASE_COUNT; phase++)
        status = (sampler->seen[phase] = make_set(sampler, error)) ? 0 : -1;
    if (!status)
        status = (sampler->interval = make_set(sampler, error)) ? 0 : -1;
    if (!status)
        status = (sampler->merged = make_set(sampler, error)) ? 0 : -1;
    if (!status)
        status = histogram_init(&sampler->response, RECORDER_HIGHEST_NS,
                                RECORDER_DIGITS, error);
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
    uint32_t transactions = sampler->of.program->transaction_count;

    return tag < transactions ? &counts->transactions[tag].response
                              : &counts->statements[tag - transactions].response;
}

static int difference(struct sampler *sampler, enum phase phase, struct error *error)
{
    histogram_reset(&sampler->response);
    for (uint32_t tag = 0; tag < sampler->tag_count; tag++) {
        histogram_reset(&sampler->merged[tag]);
        for (uint32_t i = 0; i < sampler->of.worker_count; i++)
            if (histogram_merge(&sampler->merged[tag],
                                tag_of(sampler,
                                       &sampler->of.workers[i].recorder.phases[phase],
                                       tag),
                                error))
                return -1;
        histogram_difference(&sampler->merged[tag], &sampler->seen[phase][tag],
                             &sampler->interval[tag]);
        if (tag < sampler->of.program->transaction_count &&
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

/* Executions last: they are counted first, so that none of their parts is more. */
static void add_statements(const struct statement_counts *counts,
                           struct interval_row *sum)
{
    sum->reads += (int64_t)count_read(&counts->results);
    sum->writes += (int64_t)count_read(&counts->writes);
    sum->errors += (int64_t)count_read(&counts->errors);
    sum->statements += (int64_t)count_read(&counts->executions);
}

/* All that the workers have counted in `phase` so far. */
static struct interval_row sum_counts(const struct sampler *sampler, enum phase phase)
{
    const struct program *program = sampler->of.program;
    struct interval_row sum = {0};

    for (uint32_t worker = 0; worker < sampler->of.worker_count; worker++) {
        const struct phase_counts *counts =
            &sampler->of.workers[worker].recorder.phases[phase];
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

static double seconds_into(const struct sampler *sampler, int64_t time_ns)
{
    return (double)(time_ns - sampler->of.schedule->start_ns) / CLOCK_NS_PER_S;
}

/* Append the row of `phase` from begin_ns to end_ns. */
static int take(struct sampler *sampler, enum phase phase, int64_t begin_ns,
                int64_t end_ns, struct error *error)
{
    struct interval_row now = sum_counts(sampler, phase);
    struct interval_row *row = append_row(sampler, error);

    if (!row || difference(sampler, phase, error))
        return -1;
    *row = now;
    subtract_counts(row, &sampler->totals[phase]);
    sampler->totals[phase] = now;
    row->time_s = seconds_into(sampler, end_ns);
    row->elapsed_s = (double)(end_ns - begin_ns) / CLOCK_NS_PER_S;
    row->phase = phase;
    set_times(row, &sampler->response);
    return 1;
}

/* Append the next row, up to end_ns. */
static int take_next(struct sampler *sampler, enum phase phase, int64_t end_ns,
                     struct error *error)
{
    int64_t begin_ns = sampler->row_ns;

    sampler->row_ns = end_ns;
    return take(sampler, phase, begin_ns, end_ns, error);
}

/* Append the last row of the warmup, which had been put off. */
static int take_warmup(struct sampler *sampler, struct error *error)
{
    int64_t begin_ns = sampler->warmup_ns;

    sampler->warmup_ns = NO_TIME;
    return take(sampler, PHASE_WARMUP, begin_ns, sampler->of.schedule->measure_ns,
                error);
}

void sampler_begin(struct sampler *sampler)
{
    sampler->row_ns = sampler->of.schedule->start_ns;
}

static int64_t end_of(const struct schedule *schedule)
{
    return atomic_load_explicit(&schedule->end_ns, memory_order_relaxed);
}

int64_t sampler_due_ns(const struct sampler *sampler)
{
    const struct schedule *schedule = sampler->of.schedule;
    int64_t due_ns = sampler->row_ns + sampler->interval_ns;

    if (sampler->row_ns < schedule->measure_ns && due_ns > schedule->measure_ns)
        due_ns = schedule->measure_ns;
    return due_ns < end_of(schedule) ? due_ns : INT64_MAX;
}

int sampler_take_due(struct sampler *sampler, int64_t now_ns, struct error *error)
{
    const struct schedule *schedule = sampler->of.schedule;
    int64_t measure_ns = schedule->measure_ns;
    int64_t whole_ns;

    if (now_ns >= end_of(schedule))
        return 0;
    if (sampler->row_ns < measure_ns && now_ns >= measure_ns) {
        sampler->warmup_ns = sampler->row_ns;
        sampler->row_ns = measure_ns;
    }
    whole_ns = (now_ns - sampler->row_ns) / sampler->interval_ns * sampler->interval_ns;
    if (!whole_ns)
        return 0;
    if (sampler->warmup_ns != NO_TIME)
        return take_warmup(sampler, error);
    return take_next(sampler,
                     sampler->row_ns < measure_ns ? PHASE_WARMUP : PHASE_MEASUREMENT,
                     sampler->row_ns + whole_ns, error);
}

/* A counted run ends with its last transaction, but is known to have ended only when
 * the workers have logged out. Cut off rows taken since; nothing was counted in them.
 */
static void cut_rows(struct sampler *sampler, int64_t end_ns)
{
    const double least_s = 0.5 / CLOCK_NS_PER_S;
    double end_s = seconds_into(sampler, end_ns);
    struct interval_row *last = sampler->rows + sampler->row_count;

    while (last-- > sampler->rows && last->time_s - last->elapsed_s > end_s - least_s)
        sampler->row_count--;
    if (last >= sampler->rows && last->time_s > end_s) {
        last->elapsed_s -= last->time_s - end_s;
        last->time_s = end_s;
    }
    sampler->row_ns = end_ns;
}

int sampler_take_last(struct sampler *sampler, int64_t measured_ns, int64_t ended_ns,
                      struct error *error)
{
    int64_t measure_ns = sampler->of.schedule->measure_ns;
    int64_t warmed_up_ns = measured_ns < measure_ns ? measured_ns : measure_ns;

    if (sampler->warmup_ns != NO_TIME)
        return take_warmup(sampler, error);
    if (sampler->of.schedule->counted && sampler->row_ns > measured_ns)
        cut_rows(sampler, measured_ns);
    if (sampler->row_ns < warmed_up_ns)
        return take_next(sampler, PHASE_WARMUP, warmed_up_ns, error);
    if (sampler->row_ns < measured_ns)
        return take_next(sampler, PHASE_MEASUREMENT, measured_ns, error);
    if (sampler->row_ns < ended_ns)
        return take_next(sampler, PHASE_DRAIN, ended_ns, error);
    return 0;
}
