/*
 * The clock does not run backwards, and a sleep ends at its deadline, not before.
 */
#define _POSIX_C_SOURCE 200809L

#include "clock.h"

#include "check.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static void clock_does_not_run_backwards(void)
{
    int64_t last_ns = clock_now_ns();

    for (int i = 0; i < 100000; i++) {
        int64_t now_ns = clock_now_ns();
        CHECK(now_ns >= last_ns);
        last_ns = now_ns;
    }
}

static void sleep_ends_after_its_deadline(void)
{
    int64_t deadline_ns = clock_now_ns() + CLOCK_NS_PER_S / 100;

    clock_sleep_until_ns(deadline_ns);
    CHECK(clock_now_ns() >= deadline_ns);
}

static void sleep_to_a_past_deadline_returns(void)
{
    clock_sleep_until_ns(clock_now_ns() - 1);
    clock_sleep_until_ns(0);
    clock_sleep_until_ns(-5);
}

static void ignore(int number)
{
    (void)number;
}

static void signal_does_not_end_the_sleep(void)
{
    struct sigaction action;
    int64_t deadline_ns = clock_now_ns() + CLOCK_NS_PER_S * INT64_C(11) / 10;

    memset(&action, 0, sizeof action);
    action.sa_handler = ignore;
    sigaction(SIGALRM, &action, NULL);
    alarm(1);
    clock_sleep_until_ns(deadline_ns);
    CHECK(clock_now_ns() >= deadline_ns);
}

int main(void)
{
    RUN(clock_does_not_run_backwards);
    RUN(sleep_ends_after_its_deadline);
    RUN(sleep_to_a_past_deadline_returns);
    RUN(signal_does_not_end_the_sleep);
    return REPORT();
}
