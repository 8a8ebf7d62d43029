/*
 * Starting threads, and waiting on the monotonic clock.
 */
#include "thread.h"

#include "clock.h"

#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* Enough for libmariadb with TLS, little enough for thousands of threads. */
enum { STACK_BYTES = 512 * 1024 };

int thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int status;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    /* A thread inherits the mask of the one that starts it. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    status = pthread_create(thread, &attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return status ? -1 : 0;
}

uint32_t thread_processors(void)
{
    cpu_set_t usable;

    /* It fails on machines with more processors than the set has room for. */
    if (sched_getaffinity(0, sizeof usable, &usable))
        return (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    return (uint32_t)CPU_COUNT(&usable);
}

void thread_be_patient(void)
{
    const struct sched_param parameter = {0};

    if (sched_getscheduler(0) == SCHED_OTHER)
        sched_setscheduler(0, SCHED_BATCH, &parameter);
}

void monitor_init(struct monitor *monitor)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&monitor->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&monitor->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void monitor_fini(struct monitor *monitor)
{
    pthread_cond_destroy(&monitor->changed);
    pthread_mutex_destroy(&monitor->lock);
}

void monitor_wait(struct monitor *monitor, int64_t deadline_ns)
{
    struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / CLOCK_NS_PER_S),
                                .tv_nsec = (long)(deadline_ns % CLOCK_NS_PER_S)};

    pthread_cond_timedwait(&monitor->changed, &monitor->lock, &deadline);
}
