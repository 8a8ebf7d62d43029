/*
 * Compiling programs, seen from C: where instructions jump, how many forms a statement
 * has, and what happens without memory. Messages are tested in tests/test_program.py.
 */
#include "program.h"

#include "error.h"

#include "allocations.h"
#include "check.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

static int draw(struct program *program, const char *target, int64_t low, int64_t high,
                struct error *error)
{
    struct generator generator = sample_uniform(low, high);

    return program_draw(program, target, &generator, error);
}

/* Find instruction number `index` of an operation, counted from 0. */
static const struct instruction *find(const struct program *program,
                                      enum operation operation, int index)
{
    for (uint32_t i = 0; i < program->instruction_count; i++)
        if (program->instructions[i].operation == operation && index-- == 0)
            return &program->instructions[i];
    return NULL;
}

static uint32_t place(const struct program *program, const struct instruction *at)
{
    return (uint32_t)(at - program->instructions);
}

static int build_nested_loops(struct program *program, struct error *error)
{
    uint32_t outer, inner;

    return program_begin_repeat(program, 3, &outer, error) ||
           program_begin_repeat(program, 0, &inner, error) ||
           draw(program, "a", 1, 2, error) ||
           program_end_repeat(program, inner, error) ||
           program_end_repeat(program, outer, error);
}

static void test_loops_go_back_to_their_first_step_and_on_behind_their_last(void)
{
    struct error error;
    struct program *program = sample_program(build_nested_loops, &error);
    const struct instruction *outer = find(program, OP_REPEAT, 0);
    const struct instruction *inner = find(program, OP_REPEAT, 1);
    const struct instruction *inner_next = find(program, OP_NEXT, 0);
    const struct instruction *outer_next = find(program, OP_NEXT, 1);

    CHECK(outer->a != inner->a && outer->number == 3 && inner->number == 0);
    CHECK(inner_next->a == inner->a && inner_next->b == place(program, inner) + 1);
    CHECK(outer_next->a == outer->a && outer_next->b == place(program, outer) + 1);
    CHECK(inner->b == place(program, inner_next) + 1);
    CHECK(outer->b == place(program, outer_next) + 1);
    program_free(program);
}

static int build_choice(struct program *program, struct error *error)
{
    const double weights[] = {1, 3};
    struct choose_block block;
    int status = program_begin_choose(program, weights, 2, &block, error);

    for (int i = 0; !status && i < 2; i++) {
        program_begin_branch(program, &block);
        status = draw(program, "a", i, i, error) ||
                 program_end_branch(program, &block, error);
    }
    program_end_choose(program, &block);
    return status;
}

static void test_branches_of_a_choice_meet_behind_it(void)
{
    struct error error;
    struct program *program = sample_program(build_choice, &error);
    const struct program_choice *choice = &program->choices[0];
    uint32_t end = place(program, find(program, OP_COMMITTED, 0));

    CHECK(choice->count == 2);
    CHECK(choice->cumulative[0] == 1 && choice->cumulative[1] == 4);
    CHECK(choice->targets[0] == place(program, find(program, OP_DRAW, 0)));
    CHECK(choice->targets[1] == place(program, find(program, OP_DRAW, 1)));
    CHECK(find(program, OP_JUMP, 0)->b == end && find(program, OP_JUMP, 1)->b == end);
    program_free(program);
}

static int build_tables(struct program *program, struct error *error)
{
    return draw(program, "table", 3, 5, error) ||
           sample_execute(program, "by_table", "SELECT c FROM t{table} x", error) ||
           sample_execute(program, "by_worker", "SELECT c FROM t{worker}", error) ||
           draw(program, "table", 8, 9, error);
}

static void check_sql(const struct program_statement *statement, uint32_t variant,
                      uint32_t worker, const char *expected)
{
    char *sql = program_statement_sql(statement, variant, worker);

    CHECK(sql && !strcmp(sql, expected));
    free(sql);
}

static void test_a_statement_has_a_form_for_each_value_of_its_register(void)
{
    struct error error;
    struct program *program = sample_program(build_tables, &error);
    const struct program_statement *by_table = &program->statements[0];
    const struct program_statement *by_worker = &program->statements[1];

    CHECK(by_table->variants == 7 && by_worker->variants == 1);
    CHECK(by_worker->first_handle == by_table->first_handle + 7);
    check_sql(by_table, 0, 2, "SELECT c FROM t3 x");
    check_sql(by_table, 6, 2, "SELECT c FROM t9 x");
    check_sql(by_worker, 0, 2, "SELECT c FROM t2");
    program_free(program);
}

static int build_overflow(struct program *program, struct error *error)
{
    return draw(program, "a", 1, 2, error) ||
           program_add(program, "b", "a", INT64_MAX, error) ||
           sample_execute(program, "s", "SELECT {b}", error);
}

static void test_bounds_that_overflow_are_no_bounds(void)
{
    struct error error;

    CHECK(!sample_program(build_overflow, &error));
    CHECK(error.kind == ERROR_INVALID);
}

static int build_all(struct program *program, struct error *error)
{
    static const char *const names[] = {"a", "b"};
    static const enum value_type types[] = {VALUE_TEXT};
    const struct execute_step keep = {.name = "keep",
                                      .sql = "SELECT c FROM t{worker} WHERE id = ?",
                                      .parameters = names,
                                      .parameter_count = 1,
                                      .kept = (const char *const[]){"c"},
                                      .kept_types = types,
                                      .kept_count = 1};
    const struct execute_step rows = {.name = "rows",
                                      .sql = "INSERT INTO t VALUES",
                                      .parameters = names,
                                      .parameter_count = 2};

    return program_control(program, STATEMENT_BEGIN, error) ||
           build_choice(program, error) || program_add(program, "b", "a", 1, error) ||
           program_execute(program, &keep, error) ||
           program_append_row(program, &rows, error) ||
           build_nested_loops(program, error) ||
           program_control(program, STATEMENT_COMMIT, error) ||
           program_add_session(program, "SET @a = 1", error) ||
           program_add_retry(program, 1213, error) ||
           program_add_tolerate(program, 1062, error);
}

static void test_every_failed_allocation_is_an_error_and_leaks_nothing(void)
{
    struct program *program = NULL;
    struct error error;
    long n = 0;

    do {
        allocations_fail(++n);
        program = sample_program(build_all, &error);
    } while (!program && error.kind == ERROR_SYSTEM);
    allocations_fail(0);
    CHECK(program && n > 30);
    program_free(program);
}

int main(void)
{
    RUN(test_loops_go_back_to_their_first_step_and_on_behind_their_last);
    RUN(test_branches_of_a_choice_meet_behind_it);
    RUN(test_a_statement_has_a_form_for_each_value_of_its_register);
    RUN(test_bounds_that_overflow_are_no_bounds);
    RUN(test_every_failed_allocation_is_an_error_and_leaks_nothing);
    return REPORT();
}
