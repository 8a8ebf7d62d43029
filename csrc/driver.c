/*
 * The controller of a run and the life of its threads.
 *
 * The monitor guards the state and the counters that workers and controller tell each
 * other. The hot path does not touch it: workers look at the schedule only.
 */
#include "driver.h"

#include "array.h"
#include "carrier.h"
#include "clock.h"
#include "connection.h"
#include "error.h"
#include "program.h"
#include "recorder.h"
#include "sampler.h"
#include "thread.h"
#include "worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS_MAX = 65536, STOP_GRACE_NS = 100 * 1000 * 1000 };

enum state {
    STATE_NEW,
    STATE_CONNECTING, /* workers that are ready wait at the barrier */
    STATE_ABANDONED,  /* the barrier is open: leave */
    STATE_RUNNING,    /* the barrier is open: run */
    STATE_LAST_ROWS,  /* all threads have ended */
    STATE_ENDED
};

/* A worker's thread connects it; while the run lasts, some of them carry all workers
 * and the others have ended. */
struct driver_thread {
    pthread_t thread;
    struct driver *driver;
    struct worker *worker;
    struct carrier carrier;
};

struct driver {
    const struct program *program;
    struct driver_options options;
    struct schedule schedule;
    struct worker *workers;
    struct driver_thread *threads;
    uint32_t initialised; /* workers to worker_fini() */
    uint32_t started;     /* threads to join */
    uint32_t carriers;    /* the first so many threads; final once the run has begun */
    struct sampler sampler;

    struct monitor monitor; /* tells the controller; guards all below */
    pthread_cond_t barrier; /* tells the workers: no longer connecting */
    enum state state;
    uint32_t ready; /* threads at the barrier, or past it */
    uint32_t ended; /* threads that have left */
    bool failed;    /* a worker has; `error` says why */
    struct error error;
    bool stop_requested;
    bool interrupted;     /* blocked workers have been cut off */
    int64_t interrupt_ns; /* when to do that */
};

static int check_options(const struct driver_options *options, bool needs_server,
                         struct error *error)
{
    if (options->workers < 1 || options->workers > WORKERS_MAX)
        return error_set(error, ERROR_INVALID, "threads must be 1 to %d, not %lld",
                         WORKERS_MAX, (long long)options->workers);
    if (options->warmup_ns < 0 || options->duration_ns < 0 || options->drain_ns < 0 ||
        options->transactions < 0)
        return error_set(
            error, ERROR_INVALID,
            "warmup, duration, drain and transactions must not be negative");
    if (options->interval_ns < CLOCK_NS_PER_S / 100)
        return error_set(error, ERROR_INVALID, "an interval must last 0.01 s or more");
    if (needs_server && !options->endpoint)
        return error_set(error, ERROR_INVALID,
                         "the workload executes statements: it needs a server");
    return 0;
}

static int make_workers(struct driver *driver, struct error *error)
{
    uint32_t count = driver_worker_count(driver);

    driver->workers = array_zeroed(count, sizeof *driver->workers);
    if (!driver->workers)
        return error_set_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        struct worker *worker = &driver->workers[i];
        worker->program = driver->program;
        worker->schedule = &driver->schedule;
        worker->endpoint = driver->options.endpoint;
        worker->number = i + 1;
        worker->workers = count;
        worker->seed = driver->options.seed;
        driver->initialised = i + 1;
        if (worker_init(worker, error))
            return -1;
    }
    return 0;
}

/* Keep the first error of a worker; monitor held. */
static void keep_error(struct driver *driver, const struct error *error)
{
    if (driver->failed)
        return;
    driver->failed = true;
    driver->error = *error;
}

/* A carrier's worker has failed. */
static void report_failure(void *context, const struct error *error)
{
    struct driver *driver = context;

    monitor_lock(&driver->monitor);
    keep_error(driver, error);
    monitor_signal(&driver->monitor);
    monitor_unlock(&driver->monitor);
}

static int make_threads(struct driver *driver, struct error *error)
{
    uint32_t count = driver_worker_count(driver);

    driver->threads = calloc(count, sizeof *driver->threads);
    if (!driver->threads)
        return error_set_memory(error);
    for (uint32_t i = 0; i < count; i++)
        driver->threads[i] =
            (struct driver_thread){.driver = driver,
                                   .worker = &driver->workers[i],
                                   .carrier = {.workers = driver->workers,
                                               .count = count,
                                               .report_failure = report_failure,
                                               .context = driver,
                                               .poll = -1}};
    return 0;
}

static int make_sampler(struct driver *driver, struct error *error)
{
    const struct sampled of = {.program = driver->program,
                               .schedule = &driver->schedule,
                               .workers = driver->workers,
                               .worker_count = driver_worker_count(driver)};

    return sampler_init(&driver->sampler, &of, driver->options.interval_ns, error);
}

int driver_new(const struct program *program, const struct driver_options *options,
               struct driver **result, struct error *error)
{
    struct driver *driver;

    if (check_options(options, program_needs_server(program), error))
        return -1;
    driver = array_zeroed(1, sizeof *driver);
    if (!driver)
        return error_set_memory(error);
    driver->program = program;
    driver->options = *options;
    driver->schedule.counted = options->transactions > 0;
    driver->interrupt_ns = INT64_MAX;
    monitor_init(&driver->monitor);
    pthread_cond_init(&driver->barrier, NULL);
    if (make_workers(driver, error) || make_threads(driver, error) ||
        make_sampler(driver, error)) {
        driver_free(driver);
        return -1;
    }
    *result = driver;
    return 0;
}

/* Tell the controller that a worker is ready, or why it is not, and wait for the
 * start. A worker that was cut off while the run was given up has no news. */
static bool wait_for_start(struct driver *driver, int status, const struct error *error)
{
    bool go;

    monitor_lock(&driver->monitor);
    driver->ready++;
    if (status && driver->state == STATE_CONNECTING)
        keep_error(driver, error);
    monitor_signal(&driver->monitor);
    while (driver->state == STATE_CONNECTING)
        pthread_cond_wait(&driver->barrier, &driver->monitor.lock);
    go = driver->state == STATE_RUNNING;
    monitor_unlock(&driver->monitor);
    return go;
}

static void report_end(struct driver *driver)
{
    monitor_lock(&driver->monitor);
    driver->ended++;
    monitor_signal(&driver->monitor);
    monitor_unlock(&driver->monitor);
}

/* Run the workers that fall to this thread, and log them out; none if it carries
 * none. */
static void carry(struct driver_thread *self)
{
    const struct driver *driver = self->driver;
    struct carrier *carrier = &self->carrier;
    uint32_t count = driver_worker_count(driver);

    carrier->first = (uint32_t)(self - driver->threads);
    carrier->step = driver->carriers;
    if (carrier->first >= driver->carriers)
        return;
    carrier_run(carrier);
    for (uint32_t i = carrier->first; i < count; i += carrier->step)
        worker_close(&driver->workers[i]);
}

static void *run_thread(void *argument)
{
    struct driver_thread *self = argument;
    struct error error = {0};
    int status = worker_open(self->worker, &error);

    if (wait_for_start(self->driver, status, &error))
        carry(self);
    else
        worker_close(self->worker);
    connection_thread_end();
    report_end(self->driver);
    return NULL;
}

/* One for each processor that this process may use. With a server on the same host the
 * threads that it wakes up for a carrier's workers then tend to run where the carrier
 * has just gone to sleep, and nobody has to wake up another processor. */
static uint32_t choose_carriers(const struct driver *driver)
{
    uint32_t workers = driver_worker_count(driver);
    uint32_t processors = thread_processors();

    return driver->program->shareable && processors < workers ? processors : workers;
}

/* What several workers on a thread need. */
static int open_carriers(struct driver *driver, struct error *error)
{
    uint32_t count = driver_worker_count(driver);

    driver->carriers = choose_carriers(driver);
    for (uint32_t i = 0; driver->carriers < count && i < driver->carriers; i++)
        if (carrier_open(&driver->threads[i].carrier, error))
            return -1;
    return 0;
}

int driver_start(struct driver *driver, struct error *error)
{
    uint32_t count = driver_worker_count(driver);

    if (open_carriers(driver, error))
        return -1;
    monitor_lock(&driver->monitor);
    driver->state = STATE_CONNECTING;
    monitor_unlock(&driver->monitor);
    for (uint32_t i = 0; i < count; i++) {
        struct driver_thread *thread = &driver->threads[i];
        if (thread_start(&thread->thread, run_thread, thread))
            return error_set(error, ERROR_SYSTEM,
                             "only %u of %u threads could be started (see ulimit -u)",
                             i, count);
        driver->started++;
    }
    return 0;
}

static void set_end(struct driver *driver, int64_t end_ns)
{
    atomic_store_explicit(&driver->schedule.end_ns, end_ns, memory_order_relaxed);
}

static int64_t get_end(const struct driver *driver)
{
    return atomic_load_explicit(&driver->schedule.end_ns, memory_order_relaxed);
}

static void open_barrier(struct driver *driver, enum state state)
{
    driver->state = state;
    pthread_cond_broadcast(&driver->barrier);
}

/* A connection with TLS, or a statement that only libmariadb can carry, is known when
 * all are open; monitor held. */
static void settle_carriers(struct driver *driver)
{
    uint32_t count = driver_worker_count(driver);

    for (uint32_t i = 0; driver->carriers < count && i < count; i++)
        if (!worker_may_share(&driver->workers[i]))
            driver->carriers = count;
}

/* All are ready. The monitor publishes the schedule to the workers. */
static void begin_run(struct driver *driver)
{
    struct schedule *schedule = &driver->schedule;
    int64_t duration_ns = driver->options.duration_ns;

    settle_carriers(driver);
    schedule->start_ns = clock_now_ns();
    schedule->measure_ns = schedule->start_ns + driver->options.warmup_ns;
    set_end(driver, duration_ns ? schedule->measure_ns + duration_ns : INT64_MAX);
    atomic_store_explicit(&schedule->remaining, driver->options.transactions,
                          memory_order_relaxed);
    if (duration_ns)
        driver->interrupt_ns = get_end(driver) + driver->options.drain_ns;
    sampler_begin(&driver->sampler);
    open_barrier(driver, STATE_RUNNING);
}

/* End what runs now, also for workers that pause. */
static void end_now(struct driver *driver, int64_t now_ns)
{
    set_end(driver, now_ns);
    for (uint32_t i = 0; i < driver_worker_count(driver); i++)
        worker_wake(&driver->workers[i]);
}

/* End the run now, or never begin it; monitor held. */
static void end_run(struct driver *driver)
{
    int64_t now_ns = clock_now_ns();

    if (driver->state == STATE_CONNECTING)
        open_barrier(driver, STATE_ABANDONED);
    if (driver->state == STATE_RUNNING && now_ns < get_end(driver))
        end_now(driver, now_ns);
    if (now_ns + STOP_GRACE_NS < driver->interrupt_ns)
        driver->interrupt_ns = now_ns + STOP_GRACE_NS;
}

void driver_stop(struct driver *driver)
{
    monitor_lock(&driver->monitor);
    if (driver->state < STATE_LAST_ROWS) {
        driver->stop_requested = true;
        end_run(driver);
        monitor_signal(&driver->monitor);
    }
    monitor_unlock(&driver->monitor);
}

int64_t driver_start_ns(struct driver *driver)
{
    int64_t start_ns;

    monitor_lock(&driver->monitor);
    start_ns = driver->state < STATE_RUNNING ? 0 : driver->schedule.start_ns;
    monitor_unlock(&driver->monitor);
    return start_ns;
}

static void interrupt_workers(struct driver *driver)
{
    driver->interrupted = true;
    for (uint32_t i = 0; i < driver_worker_count(driver); i++)
        worker_interrupt(&driver->workers[i]);
}

static void join_threads(struct driver *driver)
{
    for (uint32_t i = 0; i < driver->started; i++)
        pthread_join(driver->threads[i].thread, NULL);
    driver->started = 0;
}

/* React to what the workers have told; monitor held. */
static void advance(struct driver *driver, int64_t now_ns)
{
    if (driver->failed || driver->stop_requested)
        end_run(driver);
    else if (driver->state == STATE_CONNECTING &&
             driver->ready == driver_worker_count(driver))
        begin_run(driver);
    if (now_ns >= driver->interrupt_ns && !driver->interrupted)
        interrupt_workers(driver);
}

/* Take the row that is due, if one is. Without memory for it the run ends. */
static bool take_due_row(struct driver *driver, int64_t now_ns)
{
    struct error error;
    int taken;

    if (driver->state != STATE_RUNNING)
        return false;
    taken = sampler_take_due(&driver->sampler, now_ns, &error);
    if (taken < 0) {
        keep_error(driver, &error);
        end_run(driver);
    }
    return taken > 0;
}

static int64_t last_end(const struct driver *driver)
{
    int64_t last_ns = driver->schedule.start_ns;

    for (uint32_t i = 0; i < driver_worker_count(driver); i++)
        if (driver->workers[i].ended_ns > last_ns)
            last_ns = driver->workers[i].ended_ns;
    return last_ns;
}

/* Where the measurement ended: as planned or stopped, or with its last transaction. */
static int64_t measure_end(const struct driver *driver)
{
    return driver->schedule.counted ? last_end(driver) : get_end(driver);
}

static enum driver_event take_last_row(struct driver *driver, struct error *error)
{
    int taken = sampler_take_last(&driver->sampler, measure_end(driver),
                                  last_end(driver), error);

    if (taken > 0)
        return DRIVER_INTERVAL;
    driver->state = STATE_ENDED;
    return taken ? DRIVER_FAILED : DRIVER_ENDED;
}

/* All threads have ended. */
static enum driver_event settle(struct driver *driver, struct error *error)
{
    join_threads(driver);
    if (driver->state == STATE_RUNNING) {
        driver->state = STATE_LAST_ROWS;
        return take_last_row(driver, error);
    }
    driver->state = STATE_ENDED;
    if (driver->failed)
        *error = driver->error;
    else
        error_set(error, ERROR_SYSTEM, "stopped before all workers were connected");
    return DRIVER_FAILED;
}

/* When the controller must look again, also if no worker tells it anything. */
static int64_t wake_time(const struct driver *driver, int64_t deadline_ns)
{
    int64_t wake_ns = deadline_ns;

    if (driver->state == STATE_RUNNING && sampler_due_ns(&driver->sampler) < wake_ns)
        wake_ns = sampler_due_ns(&driver->sampler);
    if (!driver->interrupted && driver->interrupt_ns < wake_ns)
        wake_ns = driver->interrupt_ns;
    return wake_ns;
}

static enum driver_event control(struct driver *driver, int64_t deadline_ns,
                                 struct error *error)
{
    for (;;) {
        int64_t now_ns = clock_now_ns();
        advance(driver, now_ns);
        if (driver->ended == driver->started)
            return settle(driver, error);
        if (take_due_row(driver, now_ns))
            return DRIVER_INTERVAL;
        if (now_ns >= deadline_ns)
            return DRIVER_RUNNING;
        monitor_wait(&driver->monitor, wake_time(driver, deadline_ns));
    }
}

enum driver_event driver_wait(struct driver *driver, int64_t timeout_ns,
                              struct error *error)
{
    enum driver_event event = DRIVER_ENDED;

    monitor_lock(&driver->monitor);
    if (driver->state == STATE_LAST_ROWS)
        event = take_last_row(driver, error);
    else if (driver->state != STATE_ENDED)
        event = control(driver, clock_now_ns() + timeout_ns, error);
    monitor_unlock(&driver->monitor);
    return event;
}

void driver_free(struct driver *driver)
{
    if (!driver)
        return;
    if (driver->started) {
        driver_stop(driver);
        interrupt_workers(driver);
        join_threads(driver);
    }
    sampler_fini(&driver->sampler);
    for (uint32_t i = 0; i < driver->initialised; i++)
        worker_fini(&driver->workers[i]);
    for (uint32_t i = 0; i < driver->carriers; i++)
        carrier_close(&driver->threads[i].carrier);
    free(driver->workers);
    free(driver->threads);
    pthread_cond_destroy(&driver->barrier);
    monitor_fini(&driver->monitor);
    free(driver);
}

static void add_worker(const struct worker *worker, const struct program *program,
                       struct driver_result *result)
{
    const struct recorder *recorder = &worker->recorder;

    result->scheduled += count_read(&recorder->scheduled);
    result->in_flight += count_read(&recorder->in_flight);
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        const struct phase_counts *counts = &recorder->phases[phase];
        for (uint32_t i = 0; i < program->transaction_count; i++)
            for (int outcome = 0; outcome < OUTCOME_IN_FLIGHT; outcome++)
                result->outcomes[phase][outcome] +=
                    count_read(&counts->transactions[i].outcomes[outcome]);
        for (uint32_t i = 0; i < program->label_count; i++)
            result->statements += count_read(&counts->statements[i].executions);
    }
}

static enum driver_stop why_stopped(const struct driver *driver)
{
    if (driver->failed)
        return STOP_ERROR;
    if (driver->stop_requested)
        return STOP_REQUEST;
    return atomic_load_explicit(&driver->schedule.remaining, memory_order_relaxed) < 0
               ? STOP_COUNT
               : STOP_TIME;
}

static int check_identity(const struct driver_result *result, struct error *error)
{
    uint64_t accounted = result->in_flight;

    for (int phase = 0; phase < PHASE_COUNT; phase++)
        for (int outcome = 0; outcome < OUTCOME_IN_FLIGHT; outcome++)
            accounted += result->outcomes[phase][outcome];
    if (accounted == result->scheduled)
        return 0;
    return error_set(error, ERROR_INTERNAL,
                     "%llu transactions were scheduled but %llu are accounted for",
                     (unsigned long long)result->scheduled,
                     (unsigned long long)accounted);
}

int driver_finish(const struct driver *driver, struct driver_result *result,
                  struct error *error)
{
    const struct schedule *schedule = &driver->schedule;
    int64_t measured_ns = measure_end(driver) - schedule->measure_ns;
    int64_t warmup_ns = measured_ns < 0 ? measure_end(driver) - schedule->start_ns
                                        : driver->options.warmup_ns;

    memset(result, 0, sizeof *result);
    for (uint32_t i = 0; i < driver_worker_count(driver); i++)
        add_worker(&driver->workers[i], driver->program, result);
    for (uint32_t i = 0; i < driver->carriers; i++) {
        result->cpu_user_ns += driver->threads[i].carrier.cpu_user_ns;
        result->cpu_system_ns += driver->threads[i].carrier.cpu_system_ns;
    }
    result->os_threads = driver->carriers;
    result->why = why_stopped(driver);
    result->warmup_s = (double)warmup_ns / CLOCK_NS_PER_S;
    result->measured_s = measured_ns < 0 ? 0 : (double)measured_ns / CLOCK_NS_PER_S;
    return check_identity(result, error);
}

const struct error *driver_error(const struct driver *driver)
{
    return &driver->error;
}

const struct sampler *driver_sampler(const struct driver *driver)
{
    return &driver->sampler;
}

uint32_t driver_worker_count(const struct driver *driver)
{
    return (uint32_t)driver->options.workers;
}

const struct recorder *driver_recorder(const struct driver *driver, uint32_t index)
{
    return &driver->workers[index].recorder;
}
