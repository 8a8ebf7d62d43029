/*
 * Monotonic time in nanoseconds, and sleeping to an absolute deadline.
 */
#ifndef BENCHKIT_CLOCK_H
#define BENCHKIT_CLOCK_H

#include <stdint.h>

enum { CLOCK_NS_PER_S = 1000000000 };

/* CLOCK_MONOTONIC now. */
int64_t clock_now_ns(void);

/* Sleep until clock_now_ns() >= deadline_ns; returns at once if it already is. Signals
 * do not end the sleep. */
void clock_sleep_until_ns(int64_t deadline_ns);

#endif
