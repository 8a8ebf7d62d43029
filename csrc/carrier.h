/*
 * A carrier: one thread that runs one or more workers of a run.
 *
 * With one worker the thread waits in its receiving calls. With several it waits for
 * all their sockets at once and goes on with those workers whose replies have come, so
 * that under load it hardly ever sleeps: going to sleep and being woken up for each
 * reply is most of what a statement costs the client, and the server that wakes it.
 */
#ifndef BENCHKIT_CARRIER_H
#define BENCHKIT_CARRIER_H

#include <stdint.h>

struct error;
struct worker;

struct carrier {
    /* Set before carrier_run(). Of the run's workers, this carrier has those at first,
     * first + step, and so on below count. */
    struct worker *workers;
    uint32_t first, step, count;
    /* Called at once when an error of a worker ends the run. */
    void (*report_failure)(void *context, const struct error *error);
    void *context;

    int poll;            /* polls all sockets; -1: not opened */
    int64_t cpu_user_ns; /* of this thread between start and end of the run */
    int64_t cpu_system_ns;
};

/* Make it ready for several workers. ERROR_SYSTEM without a file descriptor. */
int carrier_open(struct carrier *carrier, struct error *error);

/* Fine on one whose `poll` is -1. */
void carrier_close(struct carrier *carrier);

/* Run the workers to their ends, from the calling thread. They must be open; if there
 * are several, all must be such as may share a thread, and the carrier opened. */
void carrier_run(struct carrier *carrier);

#endif
