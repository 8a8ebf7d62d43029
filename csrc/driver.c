/*
 * The controller of a run and the life of its threads.
 *
 * `lock` guards the states and counters that workers and controller tell each other;
 * `changed` is signalled when one of them changes. The hot path takes neither.
 */
#include "driver.h"

#include "array.h"
#include "clock.h"
#include "error.h"
#include "program.h"
#include "worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORKERS_MAX = 65536,
    STACK_BYTES = 512 * 1024,
    STOP_GRACE_NS = 100 * 1000 * 1000
};

enum state {
    STATE_NEW,
    STATE_CONNECTING,
    STATE_RUNNING,
    STATE_JOINED, /* all threads have ended; last rows may be due */
    STATE_ENDED
};

struct driver_thread {
    pthread_t thread;
    struct driver *driver;
    struct worker *worker;
};

struct driver {
    const struct program *program;
    struct driver_options options;
    struct schedule schedule;
    struct worker *workers;
    struct driver_thread *threads;
    uint32_t initialised; /* workers to worker_fini() */
    uint32_t started;     /* threads to join */
    struct sampler sampler;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum state state;
    bool go;        /* the barrier is open: run */
    bool abandoned; /* the barrier is open: do not run */
    uint32_t ready; /* workers at the barrier, or past it */
    uint32_t ended; /* workers that have left */
    bool failed;    /* a worker has; `error` says why */
    bool stop_requested;
    bool interrupted; /* blocked workers have been cut off */
    struct error error;

    int64_t row_ns; /* where the next row begins */
    bool warmup_row_due;
    int64_t interrupt_ns; /* when to cut off blocked workers */
};

static int check_options(const struct driver_options *options, struct error *error)
{
    if (options->workers < 1 || options->workers > WORKERS_MAX)
        return error_set(error, ERROR_INVALID, "threads must be 1 to %d, not %u",
                         WORKERS_MAX, options->workers);
    if (options->warmup_ns < 0 || options->duration_ns < 0 || options->transactions < 0)
        return error_set(error, ERROR_INVALID,
                         "warmup, duration and transactions must not be negative");
    if (options->interval_ns < CLOCK_NS_PER_S / 100)
        return error_set(error, ERROR_INVALID, "an interval must last 0.01 s or more");
    return 0;
}

static int make_workers(struct driver *driver, struct error *error)
{
    uint32_t count = driver->options.workers;

    driver->workers = array_zeroed(count, sizeof *driver->workers);
    driver->threads = calloc(count, sizeof *driver->threads);
    if (!driver->workers || !driver->threads)
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
    return sampler_init(&driver->sampler, driver->program, driver->workers, count,
                        error);
}

static void init_signals(struct driver *driver)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&driver->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&driver->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

int driver_new(const struct program *program, const struct driver_options *options,
               struct driver **result, struct error *error)
{
    struct driver *driver;

    if (check_options(options, error))
        return -1;
    driver = array_zeroed(1, sizeof *driver);
    if (!driver)
        return error_set_memory(error);
    driver->program = program;
    driver->options = *options;
    driver->schedule.counted = options->transactions > 0;
    init_signals(driver);
    if (make_workers(driver, error)) {
        driver_free(driver);
        return -1;
    }
    *result = driver;
    return 0;
}

/* Tell the controller that a worker is ready, or why it is not; wait for the start. */
static bool wait_for_start(struct driver *driver, int status, const struct error *error)
{
    bool go;

    pthread_mutex_lock(&driver->lock);
    driver->ready++;
    if (status && !driver->failed) {
        driver->failed = true;
        driver->error = *error;
    }
    pthread_cond_broadcast(&driver->changed);
    while (!driver->go && !driver->abandoned)
        pthread_cond_wait(&driver->changed, &driver->lock);
    go = driver->go;
    pthread_mutex_unlock(&driver->lock);
    return go && !status;
}

static void report_end(struct driver *driver, const struct worker *worker)
{
    pthread_mutex_lock(&driver->lock);
    driver->ended++;
    if (worker->failed && !driver->failed) {
        driver->failed = true;
        driver->error = worker->error;
    }
    pthread_cond_broadcast(&driver->changed);
    pthread_mutex_unlock(&driver->lock);
}

static void *run_thread(void *argument)
{
    struct driver_thread *self = argument;
    struct worker *worker = self->worker;
    struct error error = {0};
    int status = worker_open(worker, &error);

    if (wait_for_start(self->driver, status, &error))
        worker_run(worker);
    worker_close(worker);
    connection_thread_end();
    report_end(self->driver, worker);
    return NULL;
}

static int create_threads(struct driver *driver, const pthread_attr_t *attributes)
{
    for (uint32_t i = 0; i < driver->options.workers; i++) {
        struct driver_thread *thread = &driver->threads[i];
        thread->driver = driver;
        thread->worker = &driver->workers[i];
        if (pthread_create(&thread->thread, attributes, run_thread, thread))
            return -1;
        driver->started++;
    }
    return 0;
}

int driver_start(struct driver *driver, struct error *error)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int status;

    driver->state = STATE_CONNECTING;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    /* Workers inherit a full mask, so that Ctrl-C reaches the interpreter's thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    status = create_threads(driver, &attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (status)
        return error_set(error, ERROR_SYSTEM,
                         "only %u of %u threads could be started (see ulimit -u)",
                         driver->started, driver->options.workers);
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

/* Open the barrier. The mutex publishes the schedule to the workers. */
static void begin_run(struct driver *driver)
{
    struct schedule *schedule = &driver->schedule;
    int64_t duration_ns = driver->options.duration_ns;

    schedule->start_ns = clock_now_ns();
    schedule->measure_ns = schedule->start_ns + driver->options.warmup_ns;
    set_end(driver, duration_ns ? schedule->measure_ns + duration_ns : INT64_MAX);
    atomic_store_explicit(&schedule->remaining, driver->options.transactions,
                          memory_order_relaxed);
    driver->row_ns = schedule->start_ns;
    driver->interrupt_ns = INT64_MAX;
    if (duration_ns)
        driver->interrupt_ns = get_end(driver) + driver->options.drain_ns;
    driver->state = STATE_RUNNING;
    driver->go = true;
    pthread_cond_broadcast(&driver->changed);
}

/* End the run now; lock held. */
static void stop_locked(struct driver *driver)
{
    int64_t now_ns = clock_now_ns();

    if (driver->state == STATE_CONNECTING) {
        driver->abandoned = true;
        driver->interrupt_ns = now_ns + STOP_GRACE_NS;
        pthread_cond_broadcast(&driver->changed);
    }
    if (driver->state != STATE_RUNNING)
        return;
    if (now_ns < get_end(driver))
        set_end(driver, now_ns);
    if (now_ns + STOP_GRACE_NS < driver->interrupt_ns)
        driver->interrupt_ns = now_ns + STOP_GRACE_NS;
}

void driver_stop(struct driver *driver)
{
    pthread_mutex_lock(&driver->lock);
    driver->stop_requested = true;
    stop_locked(driver);
    pthread_cond_broadcast(&driver->changed);
    pthread_mutex_unlock(&driver->lock);
}

/* When the row that begins at row_ns ends: an interval later, or at the phase's end. */
static int64_t row_end(const struct driver *driver)
{
    int64_t end_ns = driver->row_ns + driver->options.interval_ns;
    int64_t measure_ns = driver->schedule.measure_ns;

    return driver->row_ns < measure_ns && end_ns > measure_ns ? measure_ns : end_ns;
}

static int take_row(struct driver *driver, enum phase phase, int64_t begin_ns,
                    int64_t end_ns, struct error *error)
{
    int64_t start_ns = driver->schedule.start_ns;

    return sampler_take(&driver->sampler, phase, begin_ns - start_ns, end_ns - start_ns,
                        error);
}

/* The last row of the warmup is taken one interval late: a worker may be about to
 * record a transaction that ended just before the measurement began. */
static bool postpone_warmup_row(struct driver *driver, int64_t end_ns)
{
    if (driver->row_ns >= driver->schedule.measure_ns ||
        end_ns < driver->schedule.measure_ns)
        return false;
    driver->warmup_row_due = true;
    driver->row_ns = end_ns;
    return true;
}

static int64_t last_warmup_begin(const struct driver *driver)
{
    int64_t whole = driver->options.warmup_ns - 1;

    return driver->schedule.start_ns + whole - whole % driver->options.interval_ns;
}

/* Take the row that is due at now_ns, if one is. */
static enum driver_event take_due_row(struct driver *driver, int64_t now_ns,
                                      struct error *error)
{
    int64_t begin_ns = driver->row_ns;
    int64_t end_ns = row_end(driver);
    int64_t measure_ns = driver->schedule.measure_ns;
    int status;

    if (now_ns < end_ns || end_ns >= get_end(driver) ||
        postpone_warmup_row(driver, end_ns))
        return DRIVER_RUNNING;
    if (driver->warmup_row_due) {
        driver->warmup_row_due = false;
        status = take_row(driver, PHASE_WARMUP, last_warmup_begin(driver), measure_ns,
                          error);
        return status ? DRIVER_FAILED : DRIVER_INTERVAL;
    }
    /* A controller that was late makes one longer row, not two that share a look. */
    if (end_ns > measure_ns && now_ns > end_ns)
        end_ns += (now_ns - end_ns) / driver->options.interval_ns *
                  driver->options.interval_ns;
    driver->row_ns = end_ns;
    status = take_row(driver, begin_ns < measure_ns ? PHASE_WARMUP : PHASE_MEASUREMENT,
                      begin_ns, end_ns, error);
    return status ? DRIVER_FAILED : DRIVER_INTERVAL;
}

static int64_t last_end(const struct driver *driver)
{
    int64_t last_ns = driver->schedule.start_ns;

    for (uint32_t i = 0; i < driver->options.workers; i++)
        if (driver->workers[i].ended_ns > last_ns)
            last_ns = driver->workers[i].ended_ns;
    return last_ns;
}

/* Where the measurement ended: as planned or stopped, or with its last transaction. */
static int64_t measure_end(const struct driver *driver)
{
    int64_t end_ns = get_end(driver);

    return driver->schedule.counted || end_ns == INT64_MAX ? last_end(driver) : end_ns;
}

/* Take the rows that could only be taken when all workers had ended, one per call. */
static enum driver_event take_last_row(struct driver *driver, struct error *error)
{
    int64_t begin_ns = driver->row_ns;
    int64_t measure_ns = driver->schedule.measure_ns;
    int64_t measured_ns = measure_end(driver);
    int64_t end_ns = last_end(driver);
    int64_t warmup_ns = measured_ns < measure_ns ? measured_ns : measure_ns;
    int status;

    if (driver->warmup_row_due || begin_ns < warmup_ns) {
        if (driver->warmup_row_due)
            begin_ns = last_warmup_begin(driver);
        else
            driver->row_ns = warmup_ns;
        driver->warmup_row_due = false;
        status = take_row(driver, PHASE_WARMUP, begin_ns, warmup_ns, error);
    } else if (begin_ns < measured_ns) {
        driver->row_ns = measured_ns;
        status = take_row(driver, PHASE_MEASUREMENT, begin_ns, measured_ns, error);
    } else if (begin_ns < end_ns) {
        driver->row_ns = end_ns;
        status = take_row(driver, PHASE_DRAIN, begin_ns, end_ns, error);
    } else {
        driver->state = STATE_ENDED;
        return DRIVER_ENDED;
    }
    return status ? DRIVER_FAILED : DRIVER_INTERVAL;
}

static void interrupt_workers(struct driver *driver)
{
    driver->interrupted = true;
    for (uint32_t i = 0; i < driver->options.workers; i++)
        worker_interrupt(&driver->workers[i]);
}

static void join_threads(struct driver *driver)
{
    for (uint32_t i = 0; i < driver->started; i++)
        pthread_join(driver->threads[i].thread, NULL);
    driver->started = 0;
}

static struct timespec to_timespec(int64_t time_ns)
{
    return (struct timespec){.tv_sec = time_ns / CLOCK_NS_PER_S,
                             .tv_nsec = time_ns % CLOCK_NS_PER_S};
}

/* Sleep until a worker changes something or the next thing is due. */
static void wait_for_change(struct driver *driver, int64_t deadline_ns)
{
    struct timespec until;
    int64_t wake_ns = deadline_ns;

    if (driver->state == STATE_RUNNING && row_end(driver) < wake_ns &&
        row_end(driver) < get_end(driver))
        wake_ns = row_end(driver);
    if (!driver->interrupted && driver->interrupt_ns && driver->interrupt_ns < wake_ns)
        wake_ns = driver->interrupt_ns;
    until = to_timespec(wake_ns);
    pthread_cond_timedwait(&driver->changed, &driver->lock, &until);
}

/* React to what the workers have told; lock held. */
static void advance(struct driver *driver, int64_t now_ns)
{
    if (driver->state == STATE_CONNECTING && !driver->abandoned) {
        if (driver->failed || driver->stop_requested)
            stop_locked(driver);
        else if (driver->ready == driver->options.workers)
            begin_run(driver);
    }
    if (driver->state == STATE_RUNNING && driver->failed)
        stop_locked(driver);
    if (driver->interrupt_ns && now_ns >= driver->interrupt_ns && !driver->interrupted)
        interrupt_workers(driver);
}

/* Wait with the lock held; DRIVER_ENDED here means that all threads are done. */
static enum driver_event wait_locked(struct driver *driver, int64_t deadline_ns,
                                     struct error *error)
{
    for (;;) {
        int64_t now_ns = clock_now_ns();
        advance(driver, now_ns);
        if (driver->ended == driver->started)
            return DRIVER_ENDED;
        if (driver->state == STATE_RUNNING) {
            enum driver_event event = take_due_row(driver, now_ns, error);
            if (event != DRIVER_RUNNING)
                return event;
        }
        if (now_ns >= deadline_ns)
            return driver->state == STATE_RUNNING ? DRIVER_RUNNING : DRIVER_CONNECTING;
        wait_for_change(driver, deadline_ns);
    }
}

/* All threads have ended: a run that never began has failed or was given up. */
static enum driver_event settle(struct driver *driver, struct error *error)
{
    join_threads(driver);
    if (driver->state == STATE_RUNNING) {
        driver->state = STATE_JOINED;
        return take_last_row(driver, error);
    }
    driver->state = STATE_ENDED;
    if (driver->failed)
        *error = driver->error;
    else
        error_set(error, ERROR_SYSTEM, "stopped before all workers were connected");
    return DRIVER_FAILED;
}

enum driver_event driver_wait(struct driver *driver, int64_t timeout_ns,
                              struct error *error)
{
    enum driver_event event;

    if (driver->state == STATE_JOINED)
        return take_last_row(driver, error);
    if (driver->state == STATE_ENDED)
        return DRIVER_ENDED;
    pthread_mutex_lock(&driver->lock);
    event = wait_locked(driver, clock_now_ns() + timeout_ns, error);
    pthread_mutex_unlock(&driver->lock);
    return event == DRIVER_ENDED ? settle(driver, error) : event;
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
    free(driver->workers);
    free(driver->threads);
    pthread_cond_destroy(&driver->changed);
    pthread_mutex_destroy(&driver->lock);
    free(driver);
}

static void add_worker(const struct worker *worker, const struct program *program,
                       struct driver_result *result)
{
    const struct recorder *recorder = &worker->recorder;

    result->scheduled += count_read(&recorder->scheduled);
    result->in_flight += count_read(&recorder->in_flight);
    result->cpu_user_ns += worker->cpu_user_ns;
    result->cpu_system_ns += worker->cpu_system_ns;
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
    for (uint32_t i = 0; i < driver->options.workers; i++)
        add_worker(&driver->workers[i], driver->program, result);
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
    return driver->options.workers;
}

const struct recorder *driver_recorder(const struct driver *driver, uint32_t index)
{
    return &driver->workers[index].recorder;
}
