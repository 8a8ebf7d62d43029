/*
 * Recording. Every function here is on the hot path but the first two.
 */
#include "recorder.h"

#include "array.h"
#include "error.h"
#include "reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int init_phase(struct phase_counts *phase, const struct recorder *recorder,
                      struct error *error)
{
    phase->transactions =
        array_zeroed(recorder->transaction_count, sizeof *phase->transactions);
    phase->statements =
        array_zeroed(recorder->statement_count, sizeof *phase->statements);
    if (!phase->transactions || !phase->statements)
        return error_set_memory(error);
    for (uint32_t i = 0; i < recorder->transaction_count; i++)
        if (histogram_init(&phase->transactions[i].response, RECORDER_HIGHEST_NS,
                           RECORDER_DIGITS, error))
            return -1;
    for (uint32_t i = 0; i < recorder->statement_count; i++)
        if (histogram_init(&phase->statements[i].response, RECORDER_HIGHEST_NS,
                           RECORDER_DIGITS, error))
            return -1;
    return 0;
}

int recorder_init(struct recorder *recorder, uint32_t transactions, uint32_t statements,
                  struct error *error)
{
    memset(recorder, 0, sizeof *recorder);
    recorder->transaction_count = transactions;
    recorder->statement_count = statements;
    for (int i = 0; i < PHASE_COUNT; i++)
        if (init_phase(&recorder->phases[i], recorder, error)) {
            recorder_fini(recorder);
            return -1;
        }
    return 0;
}

static void fini_phase(struct phase_counts *phase, const struct recorder *recorder)
{
    for (uint32_t i = 0; phase->transactions && i < recorder->transaction_count; i++)
        histogram_fini(&phase->transactions[i].response);
    for (uint32_t i = 0; phase->statements && i < recorder->statement_count; i++)
        histogram_fini(&phase->statements[i].response);
    free(phase->transactions);
    free(phase->statements);
    memset(phase, 0, sizeof *phase);
}

void recorder_fini(struct recorder *recorder)
{
    for (int i = 0; i < PHASE_COUNT; i++)
        fini_phase(&recorder->phases[i], recorder);
}

void recorder_transaction(struct recorder *recorder, enum phase phase,
                          uint32_t transaction, enum outcome outcome,
                          int64_t response_ns)
{
    struct transaction_counts *counts;

    if (outcome == OUTCOME_IN_FLIGHT) {
        count_add(&recorder->in_flight, 1);
        return;
    }
    counts = &recorder->phases[phase].transactions[transaction];
    if (outcome == OUTCOME_COMMITTED)
        histogram_record(&counts->response, response_ns);
    count_add(&counts->outcomes[outcome], 1);
}

void recorder_statement(struct recorder *recorder, enum phase phase, uint32_t statement,
                        const struct reply *reply, int64_t response_ns)
{
    struct statement_counts *counts = &recorder->phases[phase].statements[statement];

    histogram_record(&counts->response, response_ns);
    count_add(&counts->executions, 1);
    if (reply->has_result)
        count_add(&counts->results, 1);
    else if (reply->affected_rows)
        count_add(&counts->writes, 1);
}

/* The entry for this kind of failure; a full table lends its last one. */
static struct error_counts *find_failure(struct recorder *recorder, enum phase phase,
                                         uint32_t statement, const struct error *error)
{
    struct error_counts *entry = recorder->errors;
    struct error_counts *end = entry + recorder->error_count;

    while (entry < end && (entry->number != error->number ||
                           entry->label != statement || entry->phase != phase))
        entry++;
    if (entry < end)
        return entry;
    if (recorder->error_count == RECORDER_ERRORS_MAX)
        return end - 1;
    recorder->error_count++;
    entry->number = error->number;
    entry->label = statement;
    entry->phase = phase;
    snprintf(entry->sqlstate, sizeof entry->sqlstate, "%s", error->sqlstate);
    snprintf(entry->message, sizeof entry->message, "%.*s",
             (int)sizeof entry->message - 1, error->message);
    return entry;
}

void recorder_failure(struct recorder *recorder, enum phase phase, uint32_t statement,
                      const struct error *error, int64_t response_ns)
{
    struct statement_counts *counts = &recorder->phases[phase].statements[statement];

    histogram_record(&counts->response, response_ns);
    count_add(&counts->executions, 1);
    count_add(&counts->errors, 1);
    find_failure(recorder, phase, statement, error)->count++;
}
