/*
 * The smallest test frame that does: CHECK() reports and counts, RUN() names a test,
 * REPORT() is what main() returns. One test program includes it once.
 */
#ifndef BENCHKIT_CHECK_H
#define BENCHKIT_CHECK_H

#include <stdio.h>

static int check_failures;

#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition)) {                                                            \
            printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);           \
            check_failures++;                                                          \
        }                                                                              \
    } while (0)

#define RUN(test)                                                                      \
    do {                                                                               \
        int before = check_failures;                                                   \
        test();                                                                        \
        printf("%s %s\n", check_failures == before ? "ok" : "FAILED", #test);          \
    } while (0)

#define REPORT() (check_failures != 0)

#endif
