/*
 * See sample.h. What cannot go wrong is asserted: tests are built without NDEBUG.
 */
#include "sample.h"

#include "error.h"
#include "program.h"

#include <assert.h>
#include <stddef.h>

struct generator sample_uniform(int64_t low, int64_t high)
{
    struct generator_argument arguments[GENERATOR_PARAMETERS_MAX] = {
        {.given = true, .integer = low}, {.given = true, .integer = high}};
    struct generator generator = {.draw = NULL};
    struct error error;
    int status = generator_init(&generator, generator_kind_find("uniform"), arguments,
                                1, &error);

    assert(!status);
    (void)status;
    return generator;
}

struct program *sample_program(int (*build)(struct program *program,
                                            struct error *error),
                               struct error *error)
{
    struct program *program = NULL;

    if (program_new(&program, error))
        return NULL;
    if (program_begin_transaction(program, "main", 1, error) ||
        (build && build(program, error)) || program_end_transaction(program, error) ||
        program_finish(program, error)) {
        program_free(program);
        return NULL;
    }
    return program;
}

int sample_execute(struct program *program, const char *name, const char *sql,
                   struct error *error)
{
    const struct execute_step step = {.name = name, .sql = sql};

    return program_execute(program, &step, error);
}
