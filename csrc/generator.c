/*
 * The table of generator kinds, and how a generator is checked and made from it.
 * How the kinds draw is in generator_number.c and generator_text.c.
 */
#include "generator.h"
#include "generator_kind.h"

#include "error.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* Limits of the table below. */
#define WIDEST 9e18               /* integers; a little below 2^63 */
#define LONGEST 1e6               /* bytes of a text */
#define LAST_SECOND 253402300799. /* 9999-12-31 23:59:59 */

static const struct generator_kind kinds[] = {
    {.name = "constant_integer",
     .summary = "the same integer each time",
     .result = VALUE_INTEGER,
     .parameters = {{"value", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST}},
     .draw = integer_draw,
     .take = integer_take},
    {.name = "constant_real",
     .summary = "the same real number each time",
     .result = VALUE_REAL,
     .parameters = {{"value", PARAMETER_REAL, true, 0, -DBL_MAX, DBL_MAX}},
     .draw = real_draw,
     .take = real_take},
    {.name = "constant_text",
     .summary = "the same text each time",
     .result = VALUE_TEXT,
     .parameters = {{"value", PARAMETER_TEXT, true, 0, 0, LONGEST}},
     .draw = text_draw,
     .take = texts_take},
    {.name = "sequence",
     .summary = "start, start + step, ...: by row, or in each worker",
     .result = VALUE_INTEGER,
     .ordinal = ORDINAL_PER_WORKER,
     .parameters = {{"start", PARAMETER_INTEGER, false, 1, -WIDEST, WIDEST},
                    {"step", PARAMETER_INTEGER, false, 1, -WIDEST, WIDEST}},
     .draw = sequence_draw,
     .take = sequence_take},
    {.name = "uniform",
     .summary = "integers of low..high, each as likely",
     .result = VALUE_INTEGER,
     .ranged = true,
     .parameters = {{"low", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST},
                    {"high", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST},
                    {"partitioned", PARAMETER_FLAG, false, 0, 0, 1}},
     .draw = uniform_draw},
    {.name = "gaussian",
     .summary =
         "low + floor(n * mean of `rounds` uniform numbers of [0, 1)), n = high - "
         "low + 1",
     .result = VALUE_INTEGER,
     .ranged = true,
     .parameters = {{"low", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST},
                    {"high", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST},
                    {"rounds", PARAMETER_INTEGER, false, 12, 1, 1000},
                    {"partitioned", PARAMETER_FLAG, false, 0, 0, 1}},
     .draw = gaussian_draw,
     .take = gaussian_take},
    {.name = "special",
     .summary = "hot_share percent fall uniformly in a band hot_percent wide in the "
                "middle of low..high, the others are gaussian; the lowest hot_skip "
                "percent of the band stay cold",
     .result = VALUE_INTEGER,
     .ranged = true,
     .parameters = {{"low", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST},
                    {"high", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST},
                    {"hot_percent", PARAMETER_INTEGER, false, 1, 1, 100},
                    {"hot_share", PARAMETER_INTEGER, false, 75, 0, 100},
                    {"rounds", PARAMETER_INTEGER, false, 12, 1, 1000},
                    {"partitioned", PARAMETER_FLAG, false, 0, 0, 1},
                    {"hot_skip", PARAMETER_INTEGER, false, 0, 0, 100}},
     .draw = special_draw,
     .take = special_take,
     .settle = special_settle},
    {.name = "pareto",
     .summary =
         "low + floor(n * U^(ln h / ln(1 - h))): a share 1 - h of the draws falls "
         "in the lowest share h of the range",
     .result = VALUE_INTEGER,
     .ranged = true,
     .parameters = {{"low", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST},
                    {"high", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST},
                    {"h", PARAMETER_REAL, false, 0.2, 0.0001, 0.9999},
                    {"partitioned", PARAMETER_FLAG, false, 0, 0, 1}},
     .draw = pareto_draw,
     .take = pareto_take},
    {.name = "exponential",
     .summary = "-ln(U) * mean, at most `most` means; rounded if whole",
     .result = VALUE_REAL,
     .parameters = {{"mean", PARAMETER_REAL, true, 0, 0, 1e12},
                    {"most", PARAMETER_REAL, false, 10, 1, 1e6},
                    {"whole", PARAMETER_FLAG, false, 0, 0, 1}},
     .draw = exponential_draw,
     .take = exponential_take},
    {.name = "zipfian",
     .summary = "probability proportional to 1 / rank^exponent; rank 1 is low, or a "
                "place of its own if scrambled",
     .result = VALUE_INTEGER,
     .ranged = true,
     .parameters = {{"low", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST},
                    {"high", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST},
                    {"exponent", PARAMETER_REAL, false, 0.8, 0, 20},
                    {"scrambled", PARAMETER_FLAG, false, 0, 0, 1},
                    {"partitioned", PARAMETER_FLAG, false, 0, 0, 1}},
     .draw = zipfian_draw,
     .take = zipfian_take,
     .settle = zipfian_settle},
    {.name = "nurand",
     .summary = "TPC-C's ((rnd(0, a) | rnd(low, high)) + c) mod n + low",
     .result = VALUE_INTEGER,
     .ranged = true,
     .parameters = {{"low", PARAMETER_INTEGER, true, 0, 0, WIDEST},
                    {"high", PARAMETER_INTEGER, true, 0, 0, WIDEST},
                    {"a", PARAMETER_INTEGER, true, 0, 0, WIDEST},
                    {"c", PARAMETER_INTEGER, false, 0, 0, WIDEST}},
     .draw = nurand_draw,
     .take = nurand_take},
    {.name = "last_name",
     .summary = "TPC-C's customer last name: the syllables of a nurand number's digits",
     .result = VALUE_TEXT,
     .ranged = true,
     .parameters = {{"low", PARAMETER_INTEGER, false, 0, 0, 999},
                    {"high", PARAMETER_INTEGER, false, 999, 0, 999},
                    {"a", PARAMETER_INTEGER, false, 255, 0, WIDEST},
                    {"c", PARAMETER_INTEGER, false, 0, 0, WIDEST}},
     .draw = last_name_draw,
     .take = last_name_take},
    {.name = "permutation",
     .summary =
         "each integer of low..high once, in an order fixed by the seed; workers "
         "take turns",
     .result = VALUE_INTEGER,
     .ordinal = ORDINAL_SHARED,
     .ranged = true,
     .parameters = {{"low", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST},
                    {"high", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST}},
     .draw = permutation_draw,
     .settle = permutation_settle},
    {.name = "template",
     .summary = "the text with each # replaced by a digit and each @ by a letter a-z",
     .result = VALUE_TEXT,
     .parameters = {{"text", PARAMETER_TEXT, true, 0, 0, LONGEST}},
     .draw = template_draw,
     .take = texts_take},
    {.name = "alphanumeric",
     .summary = "letters and digits; the length is uniform in shortest..longest",
     .result = VALUE_TEXT,
     .parameters = {{"shortest", PARAMETER_INTEGER, true, 0, 0, LONGEST},
                    {"longest", PARAMETER_INTEGER, true, 0, 0, LONGEST}},
     .draw = alphanumeric_draw,
     .take = alphanumeric_take},
    {.name = "timestamp",
     .summary = "YYYY-MM-DD HH:MM:SS in UTC, at_s seconds after 1970, or now for -1",
     .result = VALUE_TEXT,
     .parameters = {{"at_s", PARAMETER_INTEGER, false, -1, -1, LAST_SECOND}},
     .draw = now_draw,
     .take = timestamp_take},
    {.name = "choice",
     .summary = "one of the texts, each as likely",
     .result = VALUE_TEXT,
     .parameters = {{"values", PARAMETER_TEXTS, true, 0, 0, LONGEST}},
     .draw = choice_draw,
     .take = texts_take},
    {.name = NULL}};

const struct generator_kind *generator_kinds(void)
{
    return kinds;
}

const struct generator_kind *generator_kind_find(const char *name)
{
    for (const struct generator_kind *kind = kinds; kind->name; kind++)
        if (!strcmp(kind->name, name))
            return kind;
    return NULL;
}

static bool is_text(const struct generator_parameter *parameter)
{
    return parameter->type == PARAMETER_TEXT || parameter->type == PARAMETER_TEXTS;
}

static int check_texts(const struct generator_kind *kind,
                       const struct generator_parameter *parameter,
                       const struct generator_argument *argument, struct error *error)
{
    if (!argument->text_count)
        return error_set(error, ERROR_INVALID, "generator %s: %s must not be empty",
                         kind->name, parameter->name);
    for (size_t i = 0; i < argument->text_count; i++)
        if ((double)argument->text_lengths[i] > parameter->highest)
            return error_set(error, ERROR_INVALID,
                             "generator %s: a text of %s must have at most %.0f bytes, "
                             "not %zu",
                             kind->name, parameter->name, parameter->highest,
                             argument->text_lengths[i]);
    return 0;
}

static int check_number(const struct generator_kind *kind,
                        const struct generator_parameter *parameter,
                        const struct generator_argument *argument, struct error *error)
{
    double number =
        parameter->type == PARAMETER_REAL ? argument->real : (double)argument->integer;

    if (number >= parameter->lowest && number <= parameter->highest)
        return 0;
    return error_set(error, ERROR_INVALID,
                     "generator %s: %s must be %.15g to %.15g, not %.15g", kind->name,
                     parameter->name, parameter->lowest, parameter->highest, number);
}

/* Check what is given and put the defaults where nothing is. */
static int resolve(const struct generator_kind *kind,
                   const struct generator_argument *arguments,
                   struct generator_argument *resolved, struct error *error)
{
    for (int i = 0; kind->parameters[i].name; i++) {
        const struct generator_parameter *parameter = &kind->parameters[i];
        int status = 0;
        resolved[i] = arguments[i];
        if (arguments[i].given)
            status = is_text(parameter)
                         ? check_texts(kind, parameter, &arguments[i], error)
                         : check_number(kind, parameter, &arguments[i], error);
        else if (parameter->required)
            status = error_set(error, ERROR_INVALID, "generator %s: %s is missing",
                               kind->name, parameter->name);
        if (status)
            return -1;
        if (!arguments[i].given) {
            resolved[i].integer = (int64_t)parameter->fallback;
            resolved[i].real = parameter->fallback;
        }
    }
    return 0;
}

static bool flag(const struct generator_kind *kind,
                 const struct generator_argument *arguments, const char *name)
{
    for (int i = 0; kind->parameters[i].name; i++)
        if (!strcmp(kind->parameters[i].name, name))
            return arguments[i].integer != 0;
    return false;
}

/* Draw from low..high from now on. */
static void set_range(struct generator *generator, int64_t low, int64_t high)
{
    generator->low = low;
    generator->high = high;
    generator->size = (uint64_t)high - (uint64_t)low + 1;
    if (generator->kind->settle)
        generator->kind->settle(generator);
}

static int check_range(const struct generator_kind *kind, int64_t low, int64_t high,
                       struct error *error)
{
    if (low > high)
        return error_set(error, ERROR_INVALID,
                         "generator %s: low %lld is above high %lld", kind->name,
                         (long long)low, (long long)high);
    if ((uint64_t)high - (uint64_t)low >= (uint64_t)WIDEST)
        return error_set(error, ERROR_INVALID,
                         "generator %s: the range %lld to %lld has more than %.15g "
                         "values",
                         kind->name, (long long)low, (long long)high, WIDEST);
    return 0;
}

int generator_init(struct generator *generator, const struct generator_kind *kind,
                   const struct generator_argument *arguments, uint64_t seed,
                   struct error *error)
{
    struct generator_argument resolved[GENERATOR_PARAMETERS_MAX];
    struct generator made = {.draw = kind->draw,
                             .result = kind->result,
                             .ordinal = kind->ordinal,
                             .bounded = kind->ranged && kind->result == VALUE_INTEGER,
                             .kind = kind,
                             .seed = seed};

    if (resolve(kind, arguments, resolved, error))
        return -1;
    if (kind->ranged &&
        check_range(kind, resolved[0].integer, resolved[1].integer, error))
        return -1;
    if (kind->take && kind->take(&made, resolved, error)) {
        generator_fini(&made);
        return -1;
    }
    made.partitioned = flag(kind, resolved, "partitioned");
    if (kind->ranged)
        set_range(&made, resolved[0].integer, resolved[1].integer);
    *generator = made;
    return 0;
}

static int copy_texts(struct generator *generator, const struct generator *from,
                      struct error *error)
{
    size_t offsets_bytes = (from->text_count + 1) * sizeof *from->text_offsets;
    size_t bytes = from->text_offsets[from->text_count];

    generator->text = malloc(bytes + 1);
    generator->text_offsets = malloc(offsets_bytes);
    if (!generator->text || !generator->text_offsets)
        return error_set_memory(error);
    memcpy(generator->text, from->text, bytes);
    memcpy(generator->text_offsets, from->text_offsets, offsets_bytes);
    return 0;
}

int generator_init_worker(struct generator *generator, const struct generator *whole,
                          uint32_t worker, uint32_t workers, struct error *error)
{
    struct generator made = *whole;

    if (whole->text && copy_texts(&made, whole, error)) {
        generator_fini(&made);
        return -1;
    }
    if (whole->partitioned) {
        /* floor(size * worker / workers) without overflow */
        uint64_t start =
            whole->size / workers * worker + whole->size % workers * worker / workers;
        int64_t low = (int64_t)((uint64_t)whole->low + start - 1);
        set_range(&made, low, (int64_t)((uint64_t)low + whole->size / workers));
    }
    *generator = made;
    return 0;
}

void generator_fini(struct generator *generator)
{
    free(generator->text);
    free(generator->text_offsets);
    generator->text = NULL;
    generator->text_offsets = NULL;
}
