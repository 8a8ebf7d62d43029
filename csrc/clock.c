/*
 * CLOCK_MONOTONIC: the one clock that is both read and slept on, so that deadlines and
 * measured times agree.
 */

#include "clock.h"

#include <errno.h>
#include <time.h>

int64_t clock_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * CLOCK_NS_PER_S + now.tv_nsec;
}

void clock_sleep_until_ns(int64_t deadline_ns)
{
    struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / CLOCK_NS_PER_S),
                                .tv_nsec = (long)(deadline_ns % CLOCK_NS_PER_S)};

    if (deadline_ns <= 0)
        return;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR)
        ;
}
