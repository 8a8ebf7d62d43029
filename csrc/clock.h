/*
 * Monotonic time in nanoseconds, and sleeping to an absolute deadline.
 */
#ifndef BENCHKIT_CLOCK_H
#define BENCHKIT_CLOCK_H

#include <stdint.h>
#include <time.h>

enum { CLOCK_NS_PER_S = 1000000000 };

/* CLOCK_MONOTONIC now. Inline: it is read after every statement. */
static inline int64_t clock_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * CLOCK_NS_PER_S + now.tv_nsec;
}

/* Sleep until clock_now_ns() >= deadline_ns; returns at once if it already is. */
void clock_sleep_until_ns(int64_t deadline_ns);

#endif
