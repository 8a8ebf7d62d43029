/*
 * Whole runs without Python, under the sanitizers: starting, stopping and counting with
 * many threads. With BENCHKIT_TEST_SOCKET naming a server's socket, also the loader and
 * a small workload that runs into deadlocks.
 */
#include "driver.h"

#include "clock.h"
#include "connection.h"
#include "error.h"
#include "loader.h"
#include "program.h"
#include "reply.h"
#include "sampler.h"
#include "summary.h"

#include "allocations.h"
#include "check.h"
#include "sample.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)
#define DATABASE "benchkit_c_test"

static const struct driver_options brief = {.workers = 4,
                                            .seed = 1,
                                            .warmup_ns = 25 * MS,
                                            .duration_ns = 100 * MS,
                                            .interval_ns = 10 * MS,
                                            .drain_ns = 1000 * MS};

static struct driver *make_driver(const struct program *program,
                                  const struct driver_options *options)
{
    struct driver *driver = NULL;
    struct error error;

    CHECK(!driver_new(program, options, &driver, &error));
    return driver;
}

/* Control the run to its end. */
static enum driver_event finish(struct driver *driver, struct error *error)
{
    enum driver_event event;

    do
        event = driver_wait(driver, 20 * MS, error);
    while (event == DRIVER_RUNNING || event == DRIVER_INTERVAL);
    return event;
}

static struct driver_result run(struct driver *driver)
{
    struct driver_result result = {0};
    struct error error;

    CHECK(!driver_start(driver, &error));
    CHECK(finish(driver, &error) == DRIVER_ENDED);
    CHECK(!driver_finish(driver, &result, &error));
    return result;
}

/* The rows of the measurement must hold exactly what the workers counted in it. */
static void check_rows(const struct driver *driver, const struct driver_result *result)
{
    const struct sampler *sampler = driver_sampler(driver);
    const uint64_t *outcomes = result->outcomes[PHASE_MEASUREMENT];
    uint64_t committed = 0;
    double seconds = 0;

    for (uint32_t i = 0; i < sampler->row_count; i++)
        if (sampler->rows[i].phase == PHASE_MEASUREMENT) {
            committed += (uint64_t)sampler->rows[i].committed;
            seconds += sampler->rows[i].elapsed_s;
        }
    CHECK(committed == outcomes[OUTCOME_COMMITTED]);
    CHECK(seconds - result->measured_s < 1e-9 && result->measured_s - seconds < 1e-9);
}

static void test_timed_run_measures_its_time(void)
{
    struct error error;
    struct program *program = sample_program(NULL, &error);
    struct driver *driver = make_driver(program, &brief);
    struct driver_result result = run(driver);

    CHECK(result.why == STOP_TIME && result.measured_s == 0.1);
    CHECK(result.warmup_s == 0.025 && !result.in_flight);
    CHECK(result.outcomes[PHASE_WARMUP][OUTCOME_COMMITTED] > 0);
    CHECK(result.outcomes[PHASE_MEASUREMENT][OUTCOME_COMMITTED] > 0);
    check_rows(driver, &result);
    driver_free(driver);
    program_free(program);
}

static void test_counted_run_measures_its_number(void)
{
    struct driver_options options = brief;
    struct error error;
    struct program *program = sample_program(NULL, &error);
    struct driver *driver;
    struct driver_result result;

    options.duration_ns = 0;
    options.transactions = 12345;
    driver = make_driver(program, &options);
    result = run(driver);
    CHECK(result.why == STOP_COUNT);
    CHECK(result.outcomes[PHASE_MEASUREMENT][OUTCOME_COMMITTED] == 12345);
    check_rows(driver, &result);
    driver_free(driver);
    program_free(program);
}

static void *stop_after_warmup(void *argument)
{
    clock_sleep_until_ns(clock_now_ns() + 2 * brief.warmup_ns);
    driver_stop(argument);
    return NULL;
}

static void test_run_without_limit_stops_on_request(void)
{
    struct driver_options options = brief;
    struct error error;
    struct program *program = sample_program(NULL, &error);
    struct driver *driver;
    struct driver_result result;
    pthread_t other;

    options.duration_ns = 0;
    driver = make_driver(program, &options);
    pthread_create(&other, NULL, stop_after_warmup, driver);
    result = run(driver);
    pthread_join(other, NULL);
    CHECK(result.why == STOP_REQUEST);
    check_rows(driver, &result);
    driver_free(driver);
    program_free(program);
}

static void test_stop_after_the_end_changes_nothing(void)
{
    struct error error;
    struct program *program = sample_program(NULL, &error);
    struct driver *driver = make_driver(program, &brief);
    struct driver_result result = run(driver);

    driver_stop(driver);
    CHECK(driver_wait(driver, 0, &error) == DRIVER_ENDED);
    CHECK(!driver_finish(driver, &result, &error) && result.why == STOP_TIME);
    driver_free(driver);
    program_free(program);
}

static void test_run_stopped_before_its_start_fails(void)
{
    struct error error;
    struct program *program = sample_program(NULL, &error);
    struct driver *driver = make_driver(program, &brief);

    driver_stop(driver);
    CHECK(!driver_start(driver, &error));
    CHECK(finish(driver, &error) == DRIVER_FAILED && error.kind == ERROR_SYSTEM);
    driver_free(driver);
    program_free(program);
}

static void test_driver_may_be_freed_at_any_moment(void)
{
    struct error error;
    struct program *program = sample_program(NULL, &error);
    struct driver *idle = make_driver(program, &brief);
    struct driver *started = make_driver(program, &brief);
    struct driver *running = make_driver(program, &brief);

    driver_free(idle);
    CHECK(!driver_start(started, &error));
    driver_free(started);
    CHECK(!driver_start(running, &error));
    while (driver_wait(running, 20 * MS, &error) != DRIVER_INTERVAL)
        ;
    driver_free(running);
    program_free(program);
}

static void test_late_controller_still_gets_every_count(void)
{
    struct error error;
    struct program *program = sample_program(NULL, &error);
    struct driver *driver = make_driver(program, &brief);
    struct driver_result result = {0};

    CHECK(!driver_start(driver, &error));
    while (driver_wait(driver, 20 * MS, &error) != DRIVER_INTERVAL)
        ;
    clock_sleep_until_ns(clock_now_ns() + 2 * brief.duration_ns);
    CHECK(finish(driver, &error) == DRIVER_ENDED);
    CHECK(!driver_finish(driver, &result, &error));
    check_rows(driver, &result);
    driver_free(driver);
    program_free(program);
}

static void *run_one(void *program)
{
    struct driver *driver = make_driver(program, &brief);
    struct driver_result result = run(driver);

    check_rows(driver, &result);
    driver_free(driver);
    return NULL;
}

static void test_two_drivers_share_a_program(void)
{
    struct error error;
    struct program *program = sample_program(NULL, &error);
    pthread_t other;

    pthread_create(&other, NULL, run_one, program);
    run_one(program);
    pthread_join(other, NULL);
    program_free(program);
}

static int build_endless(struct program *program, struct error *error)
{
    struct generator generator = sample_uniform(1, 9);
    uint32_t mark;

    return program_begin_repeat(program, INT64_MAX, &mark, error) ||
           program_draw(program, "a", &generator, error) ||
           program_end_repeat(program, mark, error);
}

static void test_endless_loop_is_in_flight_at_the_stop(void)
{
    struct driver_options options = brief;
    struct error error;
    struct program *program = sample_program(build_endless, &error);
    struct driver *driver;
    struct driver_result result;

    options.drain_ns = 0;
    driver = make_driver(program, &options);
    result = run(driver);
    CHECK(result.scheduled == 4 && result.in_flight == 4);
    driver_free(driver);
    program_free(program);
}

static void test_every_failed_allocation_is_an_error_and_leaks_nothing(void)
{
    struct driver_options options = brief;
    struct error error;
    struct program *program = sample_program(build_endless, &error);
    struct driver *driver = NULL;
    long n = 0;

    options.workers = 2;
    do
        allocations_fail(++n);
    while (driver_new(program, &options, &driver, &error) &&
           error.kind == ERROR_SYSTEM);
    allocations_fail(0);
    CHECK(driver && n > 30);
    driver_free(driver);
    program_free(program);
}

static int build_select(struct program *program, struct error *error)
{
    return sample_execute(program, "sleep", "SELECT SLEEP(30)", error);
}

static void test_program_with_statements_needs_a_server(void)
{
    struct error error;
    struct program *program = sample_program(build_select, &error);
    struct driver *driver = NULL;

    CHECK(driver_new(program, &brief, &driver, &error) && !driver);
    CHECK(error.kind == ERROR_INVALID);
    program_free(program);
}

static void test_server_that_is_not_there_fails_the_run(void)
{
    const struct endpoint nowhere = {.socket = "/nonexistent/socket"};
    struct driver_options options = brief;
    struct error error;
    struct program *program = sample_program(build_select, &error);
    struct driver *driver;

    options.endpoint = &nowhere;
    driver = make_driver(program, &options);
    CHECK(!driver_start(driver, &error));
    CHECK(finish(driver, &error) == DRIVER_FAILED);
    CHECK(error.kind == ERROR_DATABASE && error.number == 2002);
    driver_free(driver);
    program_free(program);
}

/* What follows needs a server. */

static struct endpoint server;

static void command(const char *sql)
{
    struct endpoint endpoint = server;
    struct connection *connection = NULL;
    struct reply reply;
    struct error error;

    endpoint.database = NULL;
    CHECK(!connection_open(&endpoint, &connection, &error));
    CHECK(!connection_command(connection, sql, strlen(sql), &reply, &error));
    connection_close(connection);
}

static void load_table(int64_t threads)
{
    const struct generator columns[] = {sample_uniform(1, 9), sample_uniform(1, 9)};
    const char *const finish[] = {"ALTER TABLE t ADD id INT AUTO_INCREMENT PRIMARY KEY",
                                  "CREATE INDEX a ON t (a)"};
    const struct load_table table = {.insert = "INSERT INTO t VALUES",
                                     .columns = columns,
                                     .column_count = 2,
                                     .rows = 25000,
                                     .finish = finish,
                                     .finish_count = 2};
    const struct load_options options = {.endpoint = &server,
                                         .tables = &table,
                                         .table_count = 1,
                                         .threads = threads,
                                         .seed = 1};
    struct loader *loader = NULL;
    struct error error;
    enum loader_event event;

    CHECK(!loader_new(&options, &loader, &error) && !loader_start(loader, &error));
    do
        event = loader_wait(loader, 20 * MS, &error);
    while (event == LOADER_RUNNING);
    CHECK(event == LOADER_ENDED && loader_rows(loader) == table.rows);
    loader_free(loader);
}

static void test_several_threads_load_one_table(void)
{
    command("CREATE TABLE " DATABASE ".t (a INT, b INT)");
    load_table(3);
}

static void test_loader_may_be_freed_at_any_moment(void)
{
    const struct generator column = sample_uniform(1, 9);
    const struct load_table table = {.insert = "INSERT INTO u VALUES",
                                     .columns = &column,
                                     .column_count = 1,
                                     .rows = UINT64_C(1) << 40};
    const struct load_options options = {&server, &table, 1, 3, 1};
    struct loader *loader = NULL;
    struct error error;

    command("CREATE TABLE " DATABASE ".u (a INT)");
    CHECK(!loader_new(&options, &loader, &error) && !loader_start(loader, &error));
    while (!loader_rows(loader))
        CHECK(loader_wait(loader, MS, &error) == LOADER_RUNNING);
    loader_free(loader);
}

/* Two rows in an order of its own for each transaction. */
static int build_deadlocks(struct program *program, struct error *error)
{
    static const char *const names[] = {"one", "other"};
    struct execute_step update = {.name = "update",
                                  .sql = "UPDATE t SET b = b + 1 WHERE id = ?",
                                  .parameters = names,
                                  .parameter_count = 1};
    struct generator one = sample_uniform(1, 4);
    struct generator other = sample_uniform(1, 4);

    if (program_draw(program, "one", &one, error) ||
        program_draw(program, "other", &other, error) ||
        program_control(program, STATEMENT_BEGIN, error) ||
        program_execute(program, &update, error))
        return -1;
    update.parameters = &names[1];
    return program_execute(program, &update, error) ||
           program_control(program, STATEMENT_COMMIT, error) ||
           program_add_retry(program, 1213, error) ||
           program_set_reconnect(program, 50, error);
}

static void test_deadlocks_are_retried_across_reconnects(void)
{
    struct driver_options options = brief;
    struct error error;
    struct program *program = sample_program(build_deadlocks, &error);
    struct transaction_summary summary;
    struct driver *driver;
    struct driver_result result;

    options.endpoint = &server;
    options.duration_ns = 0;
    options.transactions = 1000;
    driver = make_driver(program, &options);
    result = run(driver);
    CHECK(result.outcomes[PHASE_MEASUREMENT][OUTCOME_COMMITTED] == 1000);
    CHECK(!summary_transaction(driver, PHASE_MEASUREMENT, 0, &summary, &error));
    CHECK(summary.retries > 0);
    histogram_fini(&summary.response);
    driver_free(driver);
    program_free(program);
}

static int build_contention(struct program *program, struct error *error)
{
    static const char *const names[] = {"worker"};
    struct execute_step update = {.name = "update",
                                  .sql = "UPDATE t SET b = b + 1 WHERE id = 1 + ? % 2",
                                  .parameters = names,
                                  .parameter_count = 1};

    if (program_control(program, STATEMENT_BEGIN, error) ||
        program_execute(program, &update, error))
        return -1;
    update.sql = "UPDATE t SET b = b + 1 WHERE id = 2 - ? % 2";
    return program_execute(program, &update, error) ||
           program_control(program, STATEMENT_COMMIT, error) ||
           program_add_retry(program, 1213, error);
}

/* They wait for each other's locks all the time: a thread that waited with one of them
 * would never come to the other. */
static void test_workers_of_one_thread_do_not_wait_for_each_other(void)
{
    struct driver_options options = brief;
    cpu_set_t all, one;
    struct error error;
    struct program *program = sample_program(build_contention, &error);
    struct driver *driver;
    struct driver_result result;

    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    options.endpoint = &server;
    options.duration_ns = 0;
    options.transactions = 500;
    driver = make_driver(program, &options);
    result = run(driver);
    CHECK(result.os_threads == 1 && result.why == STOP_COUNT);
    CHECK(result.outcomes[PHASE_MEASUREMENT][OUTCOME_COMMITTED] == 500);
    check_rows(driver, &result);
    driver_free(driver);
    program_free(program);
    sched_setaffinity(0, sizeof all, &all);
}

static void test_blocked_workers_are_cut_off(void)
{
    struct driver_options options = brief;
    struct error error;
    struct program *program = sample_program(build_select, &error);
    struct driver *driver;
    struct driver_result result;

    options.endpoint = &server;
    options.drain_ns = 0;
    driver = make_driver(program, &options);
    result = run(driver);
    CHECK(result.why == STOP_TIME);
    CHECK(result.scheduled == 4 && result.in_flight == 4);
    driver_free(driver);
    program_free(program);
}

static void run_with_server(void)
{
    command("CREATE DATABASE " DATABASE);
    RUN(test_several_threads_load_one_table);
    RUN(test_loader_may_be_freed_at_any_moment);
    RUN(test_deadlocks_are_retried_across_reconnects);
    RUN(test_workers_of_one_thread_do_not_wait_for_each_other);
    RUN(test_blocked_workers_are_cut_off);
    command("DROP DATABASE " DATABASE);
}

int main(void)
{
    struct error error;

    if (connection_library_init(&error))
        return 1;
    RUN(test_timed_run_measures_its_time);
    RUN(test_counted_run_measures_its_number);
    RUN(test_run_without_limit_stops_on_request);
    RUN(test_stop_after_the_end_changes_nothing);
    RUN(test_run_stopped_before_its_start_fails);
    RUN(test_driver_may_be_freed_at_any_moment);
    RUN(test_late_controller_still_gets_every_count);
    RUN(test_two_drivers_share_a_program);
    RUN(test_endless_loop_is_in_flight_at_the_stop);
    RUN(test_every_failed_allocation_is_an_error_and_leaks_nothing);
    RUN(test_program_with_statements_needs_a_server);
    RUN(test_server_that_is_not_there_fails_the_run);
    server.socket = getenv("BENCHKIT_TEST_SOCKET");
    server.user = getenv("BENCHKIT_TEST_USER");
    server.database = DATABASE;
    if (server.socket)
        run_with_server();
    return REPORT();
}
