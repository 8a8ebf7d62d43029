/*
 * Threads that leave signals to the interpreter, and a lock with a condition whose
 * waits end at a time of clock.h.
 */
#ifndef BENCHKIT_THREAD_H
#define BENCHKIT_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* Start a thread with a small stack that takes no signals, so that Ctrl-C reaches the
 * interpreter's thread. 0, or -1 when the system has no room for another thread. */
int thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/* How many processors the process may use; at least 1. */
uint32_t thread_processors(void);

/* Have this thread, when it is woken, wait until the processor is free: what it waits
 * for adds up meanwhile. Without effect where the system does not allow it. */
void thread_be_patient(void);

/* What one party may wait for while others change it under `lock`. */
struct monitor {
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

void monitor_init(struct monitor *monitor);
void monitor_fini(struct monitor *monitor);

static inline void monitor_lock(struct monitor *monitor)
{
    pthread_mutex_lock(&monitor->lock);
}

static inline void monitor_unlock(struct monitor *monitor)
{
    pthread_mutex_unlock(&monitor->lock);
}

/* Wake the party that waits; lock held. */
static inline void monitor_signal(struct monitor *monitor)
{
    pthread_cond_signal(&monitor->changed);
}

/* Wait for a signal until `deadline_ns`; lock held. May return early. */
void monitor_wait(struct monitor *monitor, int64_t deadline_ns);

#endif
