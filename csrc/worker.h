/*
 * One worker: a connection, registers, a random stream and a recorder of its own, and
 * the interpreter that runs a program on them until told to stop.
 *
 * Several workers may run on one thread, in turns: wherever a reply has to be waited
 * for, the interpreter can be left and entered again. Everything in struct worker
 * belongs to the thread that runs it, except what is said to be shared. The schedule
 * is shared by all workers of a run.
 */
#ifndef BENCHKIT_WORKER_H
#define BENCHKIT_WORKER_H

#include "array.h"
#include "error.h"
#include "outcome.h"
#include "recorder.h"
#include "rng.h"
#include "thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct batch;
struct connection;
struct endpoint;
struct generator;
struct program;
struct program_statement;
struct statement;
struct value;

/* When a run begins, measures and ends. Set before the start; only end_ns and
 * remaining change afterwards. */
struct schedule {
    int64_t start_ns;
    int64_t measure_ns;     /* the measurement begins here */
    _Atomic int64_t end_ns; /* no transaction is begun at or after this time; whoever
                               stops a run moves it to the present */
    bool counted;           /* stop by count: measure `remaining` transactions */
    /* Transactions of a counted run still to be begun in the measurement. On a line
     * of its own: all workers write it. */
    _Alignas(CACHE_LINE_BYTES) _Atomic int64_t remaining;
};

/* What the statement in flight was sent for. */
enum purpose {
    PURPOSE_STEP,   /* the program wants it */
    PURPOSE_NO_ROW, /* ROLLBACK because a statement found no row */
    PURPOSE_ERROR   /* ROLLBACK after an error, of which there is a verdict */
};

/* What an error means for the transaction. */
enum verdict {
    VERDICT_RETRY,    /* another attempt */
    VERDICT_TOLERATE, /* it has failed; go on with the next */
    VERDICT_GIVE_UP   /* it has failed, and the run with it */
};

struct worker {
    /* Given by the driver before worker_init(). */
    _Alignas(CACHE_LINE_BYTES) const struct program *program;
    struct schedule *schedule;
    const struct endpoint *endpoint;
    uint32_t number;  /* from 1 */
    uint32_t workers; /* how many there are */
    uint64_t seed;    /* of the run */

    struct recorder recorder; /* read by the driver while the worker writes */
    struct error error; /* of the last statement that failed; when `failed`, why */
    bool failed;
    int64_t ended_ns; /* when it had recorded its last transaction */

    /* The interpreter's state. */
    int64_t now_ns; /* the last time read */
    struct rng rng;
    struct value *registers;
    struct generator *generators;
    uint64_t *ordinals; /* next ordinal of each generator */
    int64_t *loops;
    struct statement **handles;
    struct batch *batches; /* by statement; only those that insert rows are in use */
    struct value **bound;  /* scratch: registers of a statement, in order */
    uint32_t *deck; /* the program's, in the order in which it lies now; NULL: none */
    uint32_t cards_left;    /* at its front: those not played yet */
    enum phase phase;       /* of the transaction being run, in a counted run */
    uint64_t since_connect; /* transactions */

    struct monitor pause; /* signalled when the end of the run was moved */
    bool chosen;          /* the next transaction is: it was keyed */
    int64_t resume_ns;    /* it pauses until then; 0: it does not */

    /* Where it is. */
    bool shares_thread; /* never wait for a reply */
    int socket;         /* borrowed; where it then comes */
    bool in_transaction;
    uint32_t transaction;
    int64_t begun_ns;                     /* the transaction's scheduled start */
    uint32_t here;                        /* the next instruction */
    const struct program_statement *sent; /* in flight, or NULL */
    struct statement *handle;             /* of what was sent last; NULL: text */
    enum purpose purpose;
    enum verdict verdict;

    pthread_mutex_t connection_lock; /* guards the pointer against interrupt */
    struct connection *connection;
    _Atomic bool interrupted;
};

/* Make registers, generators and recorder. Call from the driver's thread. */
int worker_init(struct worker *worker, struct error *error);

/* Free all; the connection must be closed. Fine on a worker whose init failed. */
void worker_fini(struct worker *worker);

/* Connect and prepare every statement. Call from the worker's thread, as all below. */
int worker_open(struct worker *worker, struct error *error);

/* True when what it runs never holds up a thread for long but by waiting for replies,
 * and can leave the waiting to others. Once it is open. */
bool worker_may_share(const struct worker *worker);

/* From now on worker_advance() returns where a reply must be waited for. Returns the
 * socket that will be readable when it has come. */
int worker_share(struct worker *worker);

/* The run begins now. */
void worker_begin(struct worker *worker);

/* Run transactions until the schedule ends or an error ends the run (worker->failed,
 * worker->error): false. True when a worker that shares its thread waits for a reply:
 * call again when its socket is readable. */
bool worker_advance(struct worker *worker);

/* Log out. */
void worker_close(struct worker *worker);

/* From any thread: make a worker that pauses look at the schedule again. */
void worker_wake(struct worker *worker);

/* From any thread: make a blocked worker fail soon, and not connect again. */
void worker_interrupt(struct worker *worker);

#endif
