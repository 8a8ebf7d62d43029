/*
 * Steps of the interpreter that need no server: arithmetic, tests, which transaction is
 * next, and pauses between transactions. For worker*.c only; each call belongs to the
 * worker's thread.
 */
#ifndef BENCHKIT_WORKER_STEPS_H
#define BENCHKIT_WORKER_STEPS_H

#include <stdbool.h>
#include <stdint.h>

struct instruction;
struct worker;

/* An index with probability by weight; `cumulative` holds the weights summed up. */
uint32_t worker_pick(struct worker *worker, const double *cumulative, uint32_t count);

/* The transaction that is next, by weight or from the worker's deck. */
uint32_t worker_next_transaction(struct worker *worker);

/* OP_CALCULATE. */
void worker_calculate(struct worker *worker, const struct instruction *instruction);

/* The instruction that OP_IF goes to. */
uint32_t worker_branch(const struct worker *worker,
                       const struct instruction *instruction);

/* How often the loop of OP_REPEAT runs; less than 1: never. */
int64_t worker_times(const struct worker *worker,
                     const struct instruction *instruction);

/* Begin a pause as long as `generator`, one of the program's or NO_GENERATOR, draws. */
void worker_pause(struct worker *worker, uint32_t generator);

/* The pause is over, as is one that reaches beyond the end of the run: reads the clock.
 * A worker with a thread of its own waits for that; false is told only to others. */
bool worker_has_rested(struct worker *worker);

#endif
