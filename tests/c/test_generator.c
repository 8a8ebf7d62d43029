/*
 * What holds for every kind of generator, and what is easier to see in C than from
 * Python: limits, ownership, sharing between threads. Distributions are tested in
 * tests/test_generator.py.
 */
#include "generator.h"

#include "error.h"

#include "allocations.h"
#include "check.h"

#include <pthread.h>
#include <string.h>

static const char *const texts[] = {"a##@", "bb", ""};
static const size_t text_lengths[] = {4, 2, 0};

static const int64_t integers[] = {3};

/* A generator for those that are made of others; it owns nothing. */
static struct generator inner(void)
{
    static char text[] = "a##@";
    static size_t offsets[] = {0, 4};

    return (struct generator){.draw = generator_kind_find("template")->draw,
                              .kind = generator_kind_find("template"),
                              .result = VALUE_TEXT,
                              .capacity = 4,
                              .text = text,
                              .text_offsets = offsets,
                              .text_count = 1};
}

/* Arguments that every kind takes: 1, 9, 3, 1, 2 or as near as the limits allow. The
 * generators must outlive them. */
static void fill(const struct generator_kind *kind, const struct generator *of,
                 struct generator_argument *arguments)
{
    static const double wanted[GENERATOR_PARAMETERS_MAX] = {1, 9, 3, 1, 2};

    memset(arguments, 0, GENERATOR_PARAMETERS_MAX * sizeof *arguments);
    for (int i = 0; kind->parameters[i].name; i++) {
        double number = wanted[i];
        if (number > kind->parameters[i].highest)
            number = kind->parameters[i].highest;
        arguments[i] = (struct generator_argument){
            .given = true,
            .integer = (int64_t)number,
            .real = number,
            .texts = texts,
            .text_lengths = text_lengths,
            .text_count = kind->parameters[i].type == PARAMETER_TEXTS ? 3 : 1,
            .integers = integers,
            .integer_count = 1,
            .generators = of,
            .generator_count = 1};
    }
}

static int make(struct generator *generator, const struct generator_kind *kind,
                struct error *error)
{
    struct generator_argument arguments[GENERATOR_PARAMETERS_MAX];
    struct generator of = inner();

    fill(kind, &of, arguments);
    return generator_init(generator, kind, arguments, 1, error);
}

/* A generator of integers in low..high; the other parameters are left out. */
static struct generator range(const char *name, int64_t low, int64_t high)
{
    struct generator_argument arguments[GENERATOR_PARAMETERS_MAX] = {
        {.given = true, .integer = low}, {.given = true, .integer = high}};
    struct generator generator = {.draw = NULL};
    struct error error;

    CHECK(!generator_init(&generator, generator_kind_find(name), arguments, 1, &error));
    return generator;
}

static void check_value(const struct generator *generator, const struct value *value)
{
    CHECK(value->type == generator->result);
    CHECK(!value->is_null || generator->nullable);
    CHECK(value->length <= generator->capacity);
    CHECK(!generator->bounded ||
          (value->integer >= generator->low && value->integer <= generator->high));
}

static void draw_many(const struct generator *generator)
{
    const uint64_t word = 1;
    struct value value;
    struct error error;
    struct rng rng;

    rng_seed(&rng, &word, 1);
    CHECK(!value_init(&value, generator->result, generator->capacity, &error));
    for (uint64_t ordinal = 0; ordinal < 1000; ordinal++) {
        value.is_null = 1;
        generator_draw(generator, &rng, ordinal, &value);
        check_value(generator, &value);
    }
    value_fini(&value);
}

static void every_kind_keeps_its_promises(void)
{
    for (const struct generator_kind *kind = generator_kinds(); kind->name; kind++) {
        struct generator generator;
        struct error error = {.message = ""};
        CHECK(generator_kind_find(kind->name) == kind);
        CHECK(!make(&generator, kind, &error));
        CHECK(!error.message[0]);
        draw_many(&generator);
        generator_fini(&generator);
        generator_fini(&generator);
    }
    CHECK(!generator_kind_find("unifrom"));
}

static void every_kind_has_a_copy_for_each_worker(void)
{
    for (const struct generator_kind *kind = generator_kinds(); kind->name; kind++) {
        struct generator whole, part;
        struct error error;
        CHECK(!make(&whole, kind, &error));
        CHECK(!generator_init_worker(&part, &whole, 1, 2, &error));
        generator_fini(&whole);
        draw_many(&part);
        generator_fini(&part);
    }
}

static void missing_arguments_are_named(void)
{
    for (const struct generator_kind *kind = generator_kinds(); kind->name; kind++)
        for (int i = 0; kind->parameters[i].name; i++) {
            struct generator_argument arguments[GENERATOR_PARAMETERS_MAX];
            struct generator generator, of = inner();
            struct error error;
            int status;
            fill(kind, &of, arguments);
            arguments[i].given = false;
            status = generator_init(&generator, kind, arguments, 1, &error);
            CHECK((status != 0) == kind->parameters[i].required);
            if (status)
                CHECK(strstr(error.message, kind->name) &&
                      strstr(error.message, kind->parameters[i].name));
            else
                generator_fini(&generator);
        }
}

/* Move an argument beyond its highest or lowest; a text becomes too long or none. */
static void exceed(const struct generator_parameter *parameter,
                   struct generator_argument *argument, bool above)
{
    static const size_t huge[] = {2000000};
    static const int64_t wide[][1] = {{-1}, {INT64_C(2000000000000000)}};
    double limit = above ? parameter->highest : parameter->lowest;

    argument->text_lengths = huge;
    argument->text_count = above;
    argument->integers = wide[above];
    argument->generator_count = 0;
    if (parameter->type == PARAMETER_REAL)
        argument->real = above ? limit * 2 : limit * 2 - 2;
    else
        argument->integer = (int64_t)limit + (above ? 100000 : -100000);
}

static void arguments_beyond_their_limits_are_named(void)
{
    for (const struct generator_kind *kind = generator_kinds(); kind->name; kind++)
        for (int i = 0; kind->parameters[i].name; i++)
            for (int above = 0; above < 2; above++) {
                struct generator_argument arguments[GENERATOR_PARAMETERS_MAX];
                struct generator generator, of = inner();
                struct error error;
                fill(kind, &of, arguments);
                exceed(&kind->parameters[i], &arguments[i], above);
                CHECK(generator_init(&generator, kind, arguments, 1, &error));
                CHECK(error.kind == ERROR_INVALID);
                CHECK(strstr(error.message, kind->parameters[i].name));
            }
}

static void turned_or_too_wide_ranges_are_refused(void)
{
    static const int64_t ranges[][2] = {
        {2, 1}, {-INT64_C(5000000000000000000), INT64_C(5000000000000000000)}};

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct generator_argument arguments[GENERATOR_PARAMETERS_MAX] = {
            {.given = true, .integer = ranges[i][0]},
            {.given = true, .integer = ranges[i][1]}};
        struct generator generator;
        struct error error;
        CHECK(generator_init(&generator, generator_kind_find("uniform"), arguments, 1,
                             &error));
        CHECK(error.kind == ERROR_INVALID);
    }
}

static void ranges_of_one_value_and_huge_ones_work(void)
{
    static const char *const names[] = {"uniform", "gaussian", "special",
                                        "pareto",  "zipfian",  "permutation"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct generator one = range(names[i], -7, -7);
        struct generator two = range(names[i], 1, 2);
        struct generator wide = range(names[i], INT32_MIN, INT32_MAX);
        struct generator huge = range(names[i], 1, INT64_C(9000000000000000000));
        draw_many(&one);
        draw_many(&two);
        draw_many(&wide);
        draw_many(&huge);
    }
}

/* Let the n-th allocation fail while a generator and a worker's part of it are made. */
static void make_without_memory(const struct generator_kind *kind, long n)
{
    struct generator whole = {.text = NULL}, part = {.text = NULL};
    struct error error = {.kind = ERROR_NONE};
    int status;

    allocations_fail(n);
    status = make(&whole, kind, &error);
    if (!status)
        status = generator_init_worker(&part, &whole, 0, 2, &error);
    allocations_fail(0);
    CHECK(!status || error.kind == ERROR_SYSTEM);
    CHECK(!status || part.draw == NULL);
    generator_fini(&part);
    generator_fini(&whole);
}

static void failed_allocations_leave_nothing_behind(void)
{
    for (const struct generator_kind *kind = generator_kinds(); kind->name; kind++)
        for (long n = 1; n <= 8; n++)
            make_without_memory(kind, n);
}

static void value_without_memory_is_an_error(void)
{
    struct value value;
    struct error error;

    allocations_fail(1);
    CHECK(value_init(&value, VALUE_TEXT, 10, &error) && error.kind == ERROR_SYSTEM);
    CHECK(!value_init(&value, VALUE_TEXT, 0, &error) && value.text);
    value_fini(&value);
    CHECK(!value_init(&value, VALUE_REAL, 10, &error) && !value.text);
    value_fini(&value);
}

static void drawing_allocates_nothing(void)
{
    struct generator generator = range("zipfian", 1, 1000000);
    const uint64_t word = 1;
    long before = allocations_made();
    struct value value = {.type = VALUE_INTEGER};
    struct rng rng;

    rng_seed(&rng, &word, 1);
    for (uint64_t i = 0; i < 1000; i++)
        generator_draw(&generator, &rng, i, &value);
    CHECK(allocations_made() == before);
}

static void *draw_in_thread(void *context)
{
    draw_many(context);
    return NULL;
}

static void threads_may_share_a_generator(void)
{
    for (const struct generator_kind *kind = generator_kinds(); kind->name; kind++) {
        struct generator generator;
        struct error error;
        pthread_t threads[3];
        CHECK(!make(&generator, kind, &error));
        for (int i = 0; i < 3; i++)
            CHECK(!pthread_create(&threads[i], NULL, draw_in_thread, &generator));
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
        generator_fini(&generator);
    }
}

int main(void)
{
    RUN(every_kind_keeps_its_promises);
    RUN(every_kind_has_a_copy_for_each_worker);
    RUN(missing_arguments_are_named);
    RUN(arguments_beyond_their_limits_are_named);
    RUN(turned_or_too_wide_ranges_are_refused);
    RUN(ranges_of_one_value_and_huge_ones_work);
    RUN(failed_allocations_leave_nothing_behind);
    RUN(value_without_memory_is_an_error);
    RUN(drawing_allocates_nothing);
    RUN(threads_may_share_a_generator);
    return REPORT();
}
