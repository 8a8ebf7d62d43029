/*
 * One run: workers started together, measured for a time or a number of transactions,
 * and stopped; and its result.
 *
 * The thread that made the driver also controls it by calling driver_wait() until the
 * run has ended: there is no thread besides the workers. Several drivers may run in
 * one process, each controlled by one thread.
 *
 * When a run has ended, driver_finish() checks the accounting identity:
 * scheduled = committed + rolled back + failed + in flight at the stop.
 */
#ifndef BENCHKIT_DRIVER_H
#define BENCHKIT_DRIVER_H

#include "outcome.h"

#include <stdint.h>

struct driver;
struct endpoint;
struct error;
struct program;
struct recorder;
struct sampler;

struct driver_options {
    const struct endpoint *endpoint; /* NULL: no server */
    int64_t workers;
    uint64_t seed;
    int64_t warmup_ns;
    int64_t duration_ns;  /* of the measurement; 0: stop by count or on request only */
    int64_t transactions; /* to measure; 0: stop by time or on request only */
    int64_t interval_ns;  /* length of a row of the series */
    int64_t drain_ns;     /* how long workers may take to end what they have begun */
};

enum driver_event {
    DRIVER_RUNNING,  /* time is up; nothing to tell */
    DRIVER_INTERVAL, /* the sampler has a new row */
    DRIVER_ENDED,    /* all workers have ended */
    DRIVER_FAILED    /* `error` is filled; all workers have ended */
};

/* Why a run ended. */
enum driver_stop {
    STOP_TIME,
    STOP_COUNT,
    STOP_REQUEST, /* driver_stop() */
    STOP_ERROR    /* a worker met an error the workload does not expect */
};

/* Check the options and make the workers; nothing runs yet. `program` and the endpoint
 * with its strings must outlive the driver. ERROR_INVALID, ERROR_SYSTEM. */
int driver_new(const struct program *program, const struct driver_options *options,
               struct driver **result, struct error *error);

/* Start the workers' threads; they connect, prepare and wait for each other. Once for
 * each driver. After ERROR_SYSTEM (too many threads) it can only be freed. */
int driver_start(struct driver *driver, struct error *error);

/* Control the run for up to timeout_ns. Call again until DRIVER_ENDED or
 * DRIVER_FAILED. A run that a worker's error stopped ends with DRIVER_ENDED and
 * STOP_ERROR, so that what was measured can be read. DRIVER_FAILED: a worker could not
 * connect or prepare, or the run was stopped before all had (ERROR_SYSTEM). */
enum driver_event driver_wait(struct driver *driver, int64_t timeout_ns,
                              struct error *error);

/* Stop soon, from any thread; nothing happens once the run has ended. Workers that are
 * blocked in the server are cut off after 0.1 s; one that is still connecting is waited
 * for, at most until its connect timeout. */
void driver_stop(struct driver *driver);

/* When the warmup began, by clock_now_ns(); 0 before. From any thread. */
int64_t driver_start_ns(struct driver *driver);

/* Stop if running, wait for the threads, free everything. NULL is fine. */
void driver_free(struct driver *driver);

/* The rest is for a driver whose run has ended (DRIVER_ENDED). */

struct driver_result {
    enum driver_stop why;
    double warmup_s;
    double measured_s;
    uint64_t scheduled; /* in all phases */
    uint64_t in_flight;
    uint64_t outcomes[PHASE_COUNT][OUTCOME_IN_FLIGHT];
    uint64_t statements; /* in all phases */
    int64_t cpu_user_ns; /* of all workers in all phases */
    int64_t cpu_system_ns;
};

/* Sum up the workers and check the identity (ERROR_INTERNAL). */
int driver_finish(const struct driver *driver, struct driver_result *result,
                  struct error *error);

/* The error that stopped the run, when why is STOP_ERROR. */
const struct error *driver_error(const struct driver *driver);

/* The recorder of worker `index`, and how many workers there are. */
uint32_t driver_worker_count(const struct driver *driver);
const struct recorder *driver_recorder(const struct driver *driver, uint32_t index);

/* The rows, and the histograms of the last one; for the controlling thread, also
 * between its calls of driver_wait(). */
const struct sampler *driver_sampler(const struct driver *driver);

#endif
