/*
 * What one worker counted: outcomes, statements, errors and times, by phase.
 *
 * One thread writes, without locks and without allocating; others may read the
 * counts and histograms at any time (atomics) and the error table once the
 * writer has ended. Counts never go down, so a reader gets intervals by difference.
 */
#ifndef BENCHKIT_RECORDER_H
#define BENCHKIT_RECORDER_H

#include "histogram.h"
#include "outcome.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct error;
struct reply;

enum {
    RECORDER_DIGITS = 3,     /* of the histograms */
    RECORDER_ERRORS_MAX = 64 /* kinds of failure told apart; more share the last */
};

#define RECORDER_HIGHEST_NS INT64_C(3600000000000) /* an hour */

/* Counts of one transaction kind in one phase. */
struct transaction_counts {
    _Atomic uint64_t outcomes[OUTCOME_IN_FLIGHT]; /* committed, rolled back, failed */
    _Atomic uint64_t retries;                     /* attempts that were tried again */
    struct histogram response;                    /* of committed ones, ns */
};

/* Counts of one statement label in one phase. An execution that failed counts as an
 * execution and as an error. */
struct statement_counts {
    _Atomic uint64_t executions;
    _Atomic uint64_t results; /* a result set came: a read in sysbench's terms */
    _Atomic uint64_t writes;  /* rows were affected: a write in sysbench's terms */
    _Atomic uint64_t errors;
    struct histogram response; /* ns */
};

struct phase_counts {
    struct transaction_counts *transactions;
    struct statement_counts *statements;
};

/* One kind of failure: an error number at a statement in a phase. */
struct error_counts {
    uint32_t number;
    uint32_t label;
    enum phase phase;
    uint64_t count;
    char sqlstate[6];
    char message[160]; /* of the first one */
};

struct recorder {
    uint32_t transaction_count;
    uint32_t statement_count;
    _Atomic uint64_t scheduled; /* transactions begun, in all phases */
    _Atomic uint64_t in_flight; /* given up at the stop */
    struct phase_counts phases[PHASE_COUNT];
    uint32_t error_count;
    struct error_counts errors[RECORDER_ERRORS_MAX];
};

/* All memory that recording will need. ERROR_SYSTEM without it. */
int recorder_init(struct recorder *recorder, uint32_t transactions, uint32_t statements,
                  struct error *error);

/* Free it; fine on a zeroed struct. */
void recorder_fini(struct recorder *recorder);

/* Add to a count that only the calling thread writes: no read-modify-write. */
static inline void count_add(_Atomic uint64_t *count, uint64_t more)
{
    /* Release, with the reader's acquire: who sees this count also sees what was
     * counted before it. Plain moves on x86. */
    atomic_store_explicit(count,
                          atomic_load_explicit(count, memory_order_relaxed) + more,
                          memory_order_release);
}

static inline uint64_t count_read(const _Atomic uint64_t *count)
{
    return atomic_load_explicit(count, memory_order_acquire);
}

static inline void recorder_scheduled(struct recorder *recorder)
{
    count_add(&recorder->scheduled, 1);
}

/* The end of a transaction `response_ns` after its scheduled start. */
void recorder_transaction(struct recorder *recorder, enum phase phase,
                          uint32_t transaction, enum outcome outcome,
                          int64_t response_ns);

static inline void recorder_retry(struct recorder *recorder, enum phase phase,
                                  uint32_t transaction)
{
    count_add(&recorder->phases[phase].transactions[transaction].retries, 1);
}

/* A statement that succeeded. */
void recorder_statement(struct recorder *recorder, enum phase phase, uint32_t statement,
                        const struct reply *reply, int64_t response_ns);

/* A statement that failed with `error`. */
void recorder_failure(struct recorder *recorder, enum phase phase, uint32_t statement,
                      const struct error *error, int64_t response_ns);

#endif
