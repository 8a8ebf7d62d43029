/*
 * What all workers of an ended run counted together, by transaction and statement.
 */
#ifndef BENCHKIT_SUMMARY_H
#define BENCHKIT_SUMMARY_H

#include "histogram.h"
#include "outcome.h"

#include <stdint.h>

struct driver;
struct error;
struct error_counts;

struct transaction_summary {
    uint64_t outcomes[OUTCOME_IN_FLIGHT];
    uint64_t retries;
    struct histogram response; /* of committed ones, ns; owned */
};

struct statement_summary {
    uint64_t executions;
    uint64_t results;
    uint64_t writes;
    uint64_t errors;
    struct histogram response; /* ns; owned */
};

/* Sum up one transaction kind, or one statement label, in `phase`. On success the
 * caller owns the histogram. ERROR_SYSTEM without memory. */
int summary_transaction(const struct driver *driver, enum phase phase, uint32_t index,
                        struct transaction_summary *summary, struct error *error);
int summary_statement(const struct driver *driver, enum phase phase, uint32_t index,
                      struct statement_summary *summary, struct error *error);

/* How often a statement was executed in all phases together. */
uint64_t summary_executions(const struct driver *driver, uint32_t index);

/* The failures of all workers, one entry for each kind, most first. The caller frees
 * *errors. */
int summary_errors(const struct driver *driver, struct error_counts **errors,
                   uint32_t *count, struct error *error);

#endif
