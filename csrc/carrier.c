/*
 * Waiting for many sockets. A socket is polled by level: one that has more to say is
 * reported again.
 */
#include "carrier.h"

#include "clock.h"
#include "error.h"
#include "program.h"
#include "thread.h"
#include "worker.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

enum { EVENTS_MAX = 64 }; /* taken in one call */

int carrier_open(struct carrier *carrier, struct error *error)
{
    carrier->poll = epoll_create1(EPOLL_CLOEXEC);
    if (carrier->poll < 0)
        return error_set(error, ERROR_SYSTEM, "workers cannot share a thread: %s",
                         strerror(errno));
    return 0;
}

void carrier_close(struct carrier *carrier)
{
    if (carrier->poll >= 0)
        close(carrier->poll);
    carrier->poll = -1;
}

static void add_cpu_time(struct carrier *carrier, int64_t sign)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    carrier->cpu_user_ns += sign * ((int64_t)usage.ru_utime.tv_sec * CLOCK_NS_PER_S +
                                    usage.ru_utime.tv_usec * 1000);
    carrier->cpu_system_ns += sign * ((int64_t)usage.ru_stime.tv_sec * CLOCK_NS_PER_S +
                                      usage.ru_stime.tv_usec * 1000);
}

static void end(const struct carrier *carrier, struct worker *worker)
{
    if (worker->failed)
        carrier->report_failure(carrier->context, &worker->error);
}

/* Go on with a worker of several; false when it has ended. It is not polled any more
 * then: the server may still close its connection. */
static bool advance(const struct carrier *carrier, struct worker *worker)
{
    if (worker_advance(worker))
        return true;
    epoll_ctl(carrier->poll, EPOLL_CTL_DEL, worker->socket, NULL);
    end(carrier, worker);
    return false;
}

/* Begin with a worker of several; false when it has ended already. */
static bool begin(const struct carrier *carrier, struct worker *worker)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = worker};

    if (epoll_ctl(carrier->poll, EPOLL_CTL_ADD, worker_share(worker), &event)) {
        worker->failed = true;
        error_set(&worker->error, ERROR_SYSTEM, "a worker cannot share a thread: %s",
                  strerror(errno));
    }
    worker_begin(worker);
    return advance(carrier, worker);
}

/* Whether a worker pauses no longer, though it meant to. */
static bool pause_is_over(const struct worker *worker, int64_t now_ns)
{
    int64_t end_ns =
        atomic_load_explicit(&worker->schedule->end_ns, memory_order_relaxed);

    return worker->resume_ns && (now_ns >= worker->resume_ns || now_ns >= end_ns);
}

/* How many workers that pause have ended as their pauses did. In *wait_ms how long to
 * wait for sockets: until the next pause is over, but not so long that the end of the
 * run, which may be moved to the present, would not be seen; -1 when nobody pauses. */
static uint32_t end_pauses(const struct carrier *carrier, int *wait_ms)
{
    enum { LOOK_MS = 100, NS_PER_MS = 1000000 };
    int64_t now_ns = clock_now_ns();
    int64_t next_ns = INT64_MAX;
    uint32_t ended = 0;

    for (uint32_t i = carrier->first; i < carrier->count; i += carrier->step) {
        struct worker *worker = &carrier->workers[i];
        if (pause_is_over(worker, now_ns))
            ended += !advance(carrier, worker);
        if (worker->resume_ns && worker->resume_ns < next_ns)
            next_ns = worker->resume_ns;
    }
    *wait_ms = next_ns == INT64_MAX ? -1 : LOOK_MS;
    if (next_ns < now_ns + (int64_t)LOOK_MS * NS_PER_MS)
        *wait_ms = next_ns > now_ns ? (int)((next_ns - now_ns) / NS_PER_MS) + 1 : 0;
    return ended;
}

/* A socket has something to say; to a worker that pauses, that its connection is lost:
 * it shall not go on to say so. */
static bool answer(const struct carrier *carrier, struct worker *worker)
{
    worker->resume_ns = 0;
    return advance(carrier, worker);
}

static void run_several(const struct carrier *carrier)
{
    bool pauses = program_pauses(carrier->workers->program);
    struct epoll_event events[EVENTS_MAX];
    uint32_t running = 0;
    int wait_ms = -1;

    for (uint32_t i = carrier->first; i < carrier->count; i += carrier->step)
        running += begin(carrier, &carrier->workers[i]);
    while (running) {
        int ready;
        if (pauses)
            running -= end_pauses(carrier, &wait_ms);
        if (!running)
            break;
        ready = epoll_wait(carrier->poll, events, EVENTS_MAX, wait_ms);
        assert(ready >= 0 || errno == EINTR);
        for (int i = 0; i < ready; i++)
            running -= !answer(carrier, events[i].data.ptr);
    }
}

void carrier_run(struct carrier *carrier)
{
    struct worker *first = &carrier->workers[carrier->first];

    add_cpu_time(carrier, -1);
    if (carrier->first + carrier->step < carrier->count) {
        /* Else each reply would interrupt the server that is about to send others. */
        thread_be_patient();
        run_several(carrier);
    } else {
        worker_begin(first);
        worker_advance(first);
        end(carrier, first);
    }
    add_cpu_time(carrier, 1);
}
