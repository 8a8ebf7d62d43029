/*
 * What recording one transaction costs: recorder_scheduled() and
 * recorder_transaction() in a loop over response times as they come from a server.
 */
#include "clock.h"
#include "error.h"
#include "recorder.h"
#include "rng.h"

#include <stdio.h>

enum { TRANSACTIONS = 20 * 1000 * 1000, TIMES = 4096, ROUNDS = 5 };

static double round_ns(struct recorder *recorder, const int64_t *times)
{
    int64_t begun_ns = clock_now_ns();

    for (int i = 0; i < TRANSACTIONS; i++) {
        recorder_scheduled(recorder);
        recorder_transaction(recorder, PHASE_MEASUREMENT, 0, OUTCOME_COMMITTED,
                             times[i % TIMES]);
    }
    return (double)(clock_now_ns() - begun_ns) / TRANSACTIONS;
}

int main(void)
{
    static int64_t times[TIMES];
    const uint64_t seed = 1;
    struct recorder recorder;
    struct error error;
    struct rng rng;
    double best_ns = 1e9;

    rng_seed(&rng, &seed, 1);
    for (int i = 0; i < TIMES; i++)
        times[i] = 20000 + (int64_t)rng_below(&rng, 2000000);
    if (recorder_init(&recorder, 1, 1, &error))
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        double ns = round_ns(&recorder, times);
        best_ns = ns < best_ns ? ns : best_ns;
    }
    recorder_fini(&recorder);
    printf("recording: %.1f ns per transaction\n", best_ns);
    return 0;
}
