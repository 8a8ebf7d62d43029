/*
 * How an attempt, a transaction and a run can end; the phases of a run.
 */
#ifndef BENCHKIT_OUTCOME_H
#define BENCHKIT_OUTCOME_H

/* The end of one transaction as scheduled, whatever attempts it took. */
enum outcome {
    OUTCOME_COMMITTED,
    OUTCOME_ROLLED_BACK, /* by the program itself: a ROLLBACK step or a missing row */
    OUTCOME_FAILED,      /* by an error that is not retried */
    OUTCOME_IN_FLIGHT    /* the run stopped before it ended */
};

/* Only measurement counts; the other two are recorded apart, not thrown away. */
enum phase { PHASE_WARMUP, PHASE_MEASUREMENT, PHASE_DRAIN, PHASE_COUNT };

#endif
