/*
 * When rows are due and what they hold, on a schedule of a few nanoseconds with a
 * worker that does nothing by itself.
 */
#include "sampler.h"

#include "error.h"
#include "program.h"
#include "worker.h"

#include "check.h"
#include "sample.h"

#include <math.h>
#include <string.h>

enum { INTERVAL_NS = 10 };

/* A run in which time is what the test says. */
struct bench {
    struct program *program;
    struct schedule schedule;
    struct worker worker;
    struct sampler sampler;
};

static void bench_open(struct bench *bench, int64_t measure_ns, int64_t end_ns)
{
    struct sampled of;
    struct error error;

    memset(bench, 0, sizeof *bench);
    bench->program = sample_program(NULL, &error);
    CHECK(!recorder_init(&bench->worker.recorder, 1, 1, &error));
    bench->schedule.measure_ns = measure_ns;
    bench->schedule.end_ns = end_ns;
    of = (struct sampled){.program = bench->program,
                          .schedule = &bench->schedule,
                          .workers = &bench->worker,
                          .worker_count = 1};
    CHECK(!sampler_init(&bench->sampler, &of, INTERVAL_NS, &error));
    sampler_begin(&bench->sampler);
}

static void bench_close(struct bench *bench)
{
    sampler_fini(&bench->sampler);
    recorder_fini(&bench->worker.recorder);
    program_free(bench->program);
}

static void commit(struct bench *bench, enum phase phase, int count)
{
    for (int i = 0; i < count; i++)
        recorder_transaction(&bench->worker.recorder, phase, 0, OUTCOME_COMMITTED, 7);
}

/* Take all rows that are due; how many. */
static int look(struct bench *bench, int64_t now_ns)
{
    struct error error;
    int rows = 0;

    while (sampler_take_due(&bench->sampler, now_ns, &error) == 1)
        rows++;
    return rows;
}

/* Take the rows that wait for the end; how many. */
static int finish(struct bench *bench, int64_t measured_ns, int64_t ended_ns)
{
    struct error error;
    int rows = 0;

    while (sampler_take_last(&bench->sampler, measured_ns, ended_ns, &error) == 1)
        rows++;
    return rows;
}

static bool is_row(const struct bench *bench, uint32_t index, enum phase phase,
                   int64_t begin_ns, int64_t end_ns)
{
    const struct interval_row *row = &bench->sampler.rows[index];

    return index < bench->sampler.row_count && row->phase == phase &&
           llround(row->time_s * 1e9) == end_ns &&
           llround(row->elapsed_s * 1e9) == end_ns - begin_ns;
}

static void test_rows_end_at_whole_intervals_and_with_each_phase(void)
{
    struct bench bench;

    bench_open(&bench, 25, 50);
    for (int64_t now_ns = 0; now_ns < 55; now_ns++)
        look(&bench, now_ns);
    CHECK(finish(&bench, 50, 53) == 2);
    CHECK(bench.sampler.row_count == 7);
    CHECK(is_row(&bench, 0, PHASE_WARMUP, 0, 10));
    CHECK(is_row(&bench, 1, PHASE_WARMUP, 10, 20));
    CHECK(is_row(&bench, 2, PHASE_WARMUP, 20, 25));
    CHECK(is_row(&bench, 3, PHASE_MEASUREMENT, 25, 35));
    CHECK(is_row(&bench, 4, PHASE_MEASUREMENT, 35, 45));
    CHECK(is_row(&bench, 5, PHASE_MEASUREMENT, 45, 50));
    CHECK(is_row(&bench, 6, PHASE_DRAIN, 50, 53));
    bench_close(&bench);
}

static void test_time_to_look_is_the_end_of_the_next_row(void)
{
    struct bench bench;

    bench_open(&bench, 15, 32);
    CHECK(sampler_due_ns(&bench.sampler) == 10);
    CHECK(look(&bench, 10) == 1 && sampler_due_ns(&bench.sampler) == 15);
    CHECK(look(&bench, 15) == 0 && sampler_due_ns(&bench.sampler) == 25);
    CHECK(look(&bench, 25) == 2 && sampler_due_ns(&bench.sampler) == INT64_MAX);
    bench_close(&bench);
}

static void test_late_look_makes_one_longer_row(void)
{
    struct bench bench;

    bench_open(&bench, 0, 100);
    CHECK(look(&bench, 58) == 1);
    CHECK(is_row(&bench, 0, PHASE_MEASUREMENT, 0, 50));
    CHECK(look(&bench, 60) == 1);
    CHECK(is_row(&bench, 1, PHASE_MEASUREMENT, 50, 60));
    bench_close(&bench);
}

static void test_late_look_keeps_the_warmup_apart(void)
{
    struct bench bench;

    bench_open(&bench, 25, 100);
    CHECK(look(&bench, 47) == 2);
    CHECK(is_row(&bench, 0, PHASE_WARMUP, 0, 25));
    CHECK(is_row(&bench, 1, PHASE_MEASUREMENT, 25, 45));
    bench_close(&bench);
}

static void test_look_behind_the_end_leaves_the_row_to_the_end(void)
{
    struct bench bench;

    bench_open(&bench, 0, 95);
    CHECK(look(&bench, 12) == 1 && look(&bench, 300) == 0);
    CHECK(finish(&bench, 95, 300) == 2);
    CHECK(is_row(&bench, 1, PHASE_MEASUREMENT, 10, 95));
    CHECK(is_row(&bench, 2, PHASE_DRAIN, 95, 300));
    bench_close(&bench);
}

static void test_rows_behind_the_last_transaction_are_cut_off(void)
{
    struct bench bench;

    bench_open(&bench, 5, INT64_MAX);
    bench.schedule.counted = true;
    CHECK(look(&bench, 15) == 2 && look(&bench, 25) == 1 && look(&bench, 35) == 1);
    CHECK(finish(&bench, 22, 22) == 0);
    CHECK(bench.sampler.row_count == 3);
    CHECK(is_row(&bench, 1, PHASE_MEASUREMENT, 5, 15));
    CHECK(is_row(&bench, 2, PHASE_MEASUREMENT, 15, 22));
    bench_close(&bench);
}

static void test_row_that_begins_with_the_last_transactions_end_is_cut_off(void)
{
    struct bench bench;

    bench_open(&bench, 0, INT64_MAX);
    bench.schedule.counted = true;
    CHECK(look(&bench, 10) == 1 && look(&bench, 20) == 1);
    CHECK(finish(&bench, 10, 10) == 0 && bench.sampler.row_count == 1);
    CHECK(is_row(&bench, 0, PHASE_MEASUREMENT, 0, 10));
    bench_close(&bench);
}

static void test_run_stopped_in_its_warmup_has_no_measurement(void)
{
    struct bench bench;

    bench_open(&bench, 25, 17);
    CHECK(look(&bench, 12) == 1 && finish(&bench, 17, 19) == 2);
    CHECK(is_row(&bench, 1, PHASE_WARMUP, 10, 17));
    CHECK(is_row(&bench, 2, PHASE_DRAIN, 17, 19));
    bench_close(&bench);
}

static void test_run_shorter_than_an_interval_has_a_row_for_each_phase(void)
{
    struct bench bench;

    bench_open(&bench, 3, 8);
    CHECK(look(&bench, 5) == 0 && finish(&bench, 8, 8) == 2);
    CHECK(is_row(&bench, 0, PHASE_WARMUP, 0, 3));
    CHECK(is_row(&bench, 1, PHASE_MEASUREMENT, 3, 8));
    bench_close(&bench);
}

static void test_rows_hold_what_came_since_the_last_one_of_their_phase(void)
{
    struct bench bench;

    bench_open(&bench, 10, 100);
    commit(&bench, PHASE_WARMUP, 2);
    look(&bench, 11);
    commit(&bench, PHASE_WARMUP, 1); /* late, but not too late */
    commit(&bench, PHASE_MEASUREMENT, 4);
    CHECK(look(&bench, 20) == 2);
    commit(&bench, PHASE_MEASUREMENT, 8);
    commit(&bench, PHASE_DRAIN, 16);
    CHECK(finish(&bench, 100, 110) == 2);
    CHECK(bench.sampler.rows[0].committed == 3);
    CHECK(bench.sampler.rows[1].committed == 4);
    CHECK(bench.sampler.rows[2].committed == 8);
    CHECK(bench.sampler.rows[3].committed == 16);
    CHECK(bench.sampler.rows[3].response_max_s == 7e-9);
    bench_close(&bench);
}

static void test_row_without_transactions_has_no_times(void)
{
    struct bench bench;

    bench_open(&bench, 0, 100);
    commit(&bench, PHASE_MEASUREMENT, 1);
    CHECK(look(&bench, 10) == 1 && look(&bench, 20) == 1);
    CHECK(!isnan(bench.sampler.rows[0].response_p50_s));
    CHECK(isnan(bench.sampler.rows[1].response_p50_s));
    CHECK(isnan(bench.sampler.rows[1].response_mean_s));
    bench_close(&bench);
}

int main(void)
{
    RUN(test_rows_end_at_whole_intervals_and_with_each_phase);
    RUN(test_time_to_look_is_the_end_of_the_next_row);
    RUN(test_late_look_makes_one_longer_row);
    RUN(test_late_look_keeps_the_warmup_apart);
    RUN(test_look_behind_the_end_leaves_the_row_to_the_end);
    RUN(test_rows_behind_the_last_transaction_are_cut_off);
    RUN(test_row_that_begins_with_the_last_transactions_end_is_cut_off);
    RUN(test_run_stopped_in_its_warmup_has_no_measurement);
    RUN(test_run_shorter_than_an_interval_has_a_row_for_each_phase);
    RUN(test_rows_hold_what_came_since_the_last_one_of_their_phase);
    RUN(test_row_without_transactions_has_no_times);
    return REPORT();
}
