/*
 * Sums over the recorders of a run's workers.
 */
#include "summary.h"

#include "array.h"
#include "driver.h"
#include "error.h"
#include "recorder.h"

#include <stdlib.h>
#include <string.h>

int summary_transaction(const struct driver *driver, enum phase phase, uint32_t index,
                        struct transaction_summary *summary, struct error *error)
{
    memset(summary, 0, sizeof *summary);
    if (histogram_init(&summary->response, RECORDER_HIGHEST_NS, RECORDER_DIGITS, error))
        return -1;
    for (uint32_t i = 0; i < driver_worker_count(driver); i++) {
        const struct transaction_counts *counts =
            &driver_recorder(driver, i)->phases[phase].transactions[index];
        for (int outcome = 0; outcome < OUTCOME_IN_FLIGHT; outcome++)
            summary->outcomes[outcome] += count_read(&counts->outcomes[outcome]);
        summary->retries += count_read(&counts->retries);
        if (histogram_merge(&summary->response, &counts->response, error)) {
            histogram_fini(&summary->response);
            return -1;
        }
    }
    return 0;
}

int summary_statement(const struct driver *driver, enum phase phase, uint32_t index,
                      struct statement_summary *summary, struct error *error)
{
    memset(summary, 0, sizeof *summary);
    if (histogram_init(&summary->response, RECORDER_HIGHEST_NS, RECORDER_DIGITS, error))
        return -1;
    for (uint32_t i = 0; i < driver_worker_count(driver); i++) {
        const struct statement_counts *counts =
            &driver_recorder(driver, i)->phases[phase].statements[index];
        summary->executions += count_read(&counts->executions);
        summary->results += count_read(&counts->results);
        summary->writes += count_read(&counts->writes);
        summary->errors += count_read(&counts->errors);
        if (histogram_merge(&summary->response, &counts->response, error)) {
            histogram_fini(&summary->response);
            return -1;
        }
    }
    return 0;
}

uint64_t summary_executions(const struct driver *driver, uint32_t index)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < driver_worker_count(driver); i++)
        for (int phase = 0; phase < PHASE_COUNT; phase++)
            sum += count_read(&driver_recorder(driver, i)
                                   ->phases[phase]
                                   .statements[index]
                                   .executions);
    return sum;
}

static int add_failure(struct error_counts **errors, uint32_t *count,
                       const struct error_counts *more, struct error *error)
{
    struct error_counts *entry = *errors;
    struct error_counts *end = entry + *count;

    while (entry < end && (entry->number != more->number ||
                           entry->label != more->label || entry->phase != more->phase))
        entry++;
    if (entry < end) {
        entry->count += more->count;
        return 0;
    }
    entry = array_extend(*errors, *count, sizeof *entry);
    if (!entry)
        return error_set_memory(error);
    *errors = entry;
    entry[(*count)++] = *more;
    return 0;
}

static int compare_counts(const void *left, const void *right)
{
    const struct error_counts *a = left;
    const struct error_counts *b = right;

    return (a->count < b->count) - (a->count > b->count);
}

int summary_errors(const struct driver *driver, struct error_counts **errors,
                   uint32_t *count, struct error *error)
{
    *errors = NULL;
    *count = 0;
    for (uint32_t i = 0; i < driver_worker_count(driver); i++) {
        const struct recorder *recorder = driver_recorder(driver, i);
        for (uint32_t j = 0; j < recorder->error_count; j++)
            if (add_failure(errors, count, &recorder->errors[j], error)) {
                free(*errors);
                return -1;
            }
    }
    if (*count)
        qsort(*errors, *count, sizeof **errors, compare_counts);
    return 0;
}
