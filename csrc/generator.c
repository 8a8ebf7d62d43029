/*
 * The table of generator kinds, and how a generator is checked and made from it.
 * How the kinds draw is in generator_number.c, generator_text.c and
 * generator_compound.c.
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
    {.name = "null",
     .summary = "NULL each time",
     .result = VALUE_INTEGER,
     .draw = null_draw,
     .take = null_take},
    {.name = "sequence",
     .summary = "start, start + step, ...: by row, or in each worker; each value comes "
                "`every` times, and after `cycle` values it starts again",
     .result = VALUE_INTEGER,
     .ordinal = ORDINAL_PER_WORKER,
     .parameters = {{"start", PARAMETER_INTEGER, false, 1, -WIDEST, WIDEST},
                    {"step", PARAMETER_INTEGER, false, 1, -WIDEST, WIDEST},
                    {"every", PARAMETER_INTEGER, false, 1, 1, WIDEST},
                    {"cycle", PARAMETER_INTEGER, false, 0, 0, WIDEST}},
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
    {.name = "remaining",
     .summary = "integers of low + p..high, each as likely; p counts rows, or draws, "
                "0 to high - low, and starts again",
     .result = VALUE_INTEGER,
     .ordinal = ORDINAL_PER_WORKER,
     .ranged = true,
     .parameters = {{"low", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST},
                    {"high", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST}},
     .draw = remaining_draw},
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
     .summary =
         "TPC-C's customer last name: the syllables of a nurand number's digits, "
         "or with in_order of low, low + 1, ... high, and again",
     .result = VALUE_TEXT,
     .ranged = true,
     .parameters = {{"low", PARAMETER_INTEGER, false, 0, 0, 999},
                    {"high", PARAMETER_INTEGER, false, 999, 0, 999},
                    {"a", PARAMETER_INTEGER, false, 255, 0, WIDEST},
                    {"c", PARAMETER_INTEGER, false, 0, 0, WIDEST},
                    {"in_order", PARAMETER_FLAG, false, 0, 0, 1}},
     .draw = last_name_draw,
     .take = last_name_take},
    {.name = "permutation",
     .summary =
         "each integer of low..high once, in an order fixed by the seed; workers "
         "take turns; then again, if reshuffled in another order",
     .result = VALUE_INTEGER,
     .ordinal = ORDINAL_SHARED,
     .ranged = true,
     .parameters = {{"low", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST},
                    {"high", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST},
                    {"reshuffled", PARAMETER_FLAG, false, 0, 0, 1}},
     .draw = permutation_draw,
     .take = permutation_take,
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
    {.name = "decimal",
     .summary = "the text of an integer of low..high, each as likely, with its last "
                "`places` digits behind a decimal point",
     .result = VALUE_TEXT,
     .ranged = true,
     .parameters = {{"low", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST},
                    {"high", PARAMETER_INTEGER, true, 0, -WIDEST, WIDEST},
                    {"places", PARAMETER_INTEGER, true, 0, 0, 18}},
     .draw = decimal_draw,
     .take = decimal_take},
    {.name = "digits",
     .summary = "the text of an integer of low..high, each as likely, filled up with "
                "zeros to `width` digits; with left they come behind it",
     .result = VALUE_TEXT,
     .ranged = true,
     .parameters = {{"low", PARAMETER_INTEGER, true, 0, 0, WIDEST},
                    {"high", PARAMETER_INTEGER, true, 0, 0, WIDEST},
                    {"width", PARAMETER_INTEGER, true, 0, 1, 20},
                    {"left", PARAMETER_FLAG, false, 0, 0, 1}},
     .draw = digits_draw,
     .take = digits_take},
    {.name = "blocks",
     .summary =
         "of each rows[0] + rows[1] + ... rows (or draws) the first rows[0] from "
         "of[0], the next rows[1] from of[1], ...; each counts only its own",
     .result = VALUE_INTEGER,
     .ordinal = ORDINAL_PER_WORKER,
     .parameters = {{"rows", PARAMETER_INTEGERS, true, 0, 1, 1e15},
                    {"of", PARAMETER_GENERATORS, true, 0, 0, 0}},
     .draw = blocks_draw,
     .take = blocks_take},
    {.name = "mix",
     .summary = "from of[i] with probability weights[i] / sum of the weights",
     .result = VALUE_INTEGER,
     .parameters = {{"weights", PARAMETER_INTEGERS, true, 0, 1, 1e15},
                    {"of", PARAMETER_GENERATORS, true, 0, 0, 0}},
     .draw = mix_draw,
     .take = mix_take},
    {.name = "joined",
     .summary = "the texts of all its generators in a row",
     .result = VALUE_TEXT,
     .parameters = {{"of", PARAMETER_GENERATORS, true, 0, 0, 0}},
     .draw = joined_draw,
     .take = joined_take},
    {.name = "splice",
     .summary =
         "a text with the word put in at a random place where it fits, instead of "
         "the `cut` bytes from there on",
     .result = VALUE_TEXT,
     .parameters = {{"of", PARAMETER_GENERATORS, true, 0, 0, 0},
                    {"word", PARAMETER_TEXT, true, 0, 0, LONGEST},
                    {"cut", PARAMETER_INTEGER, true, 0, 0, LONGEST}},
     .draw = splice_draw,
     .take = splice_take},
    {.name = "shared",
     .summary = "what the generator draws from the random stream of (seed, key, row): "
                "the same wherever the key is the same",
     .result = VALUE_INTEGER,
     .ordinal = ORDINAL_PER_WORKER,
     .parameters = {{"key", PARAMETER_TEXT, true, 0, 0, LONGEST},
                    {"of", PARAMETER_GENERATORS, true, 0, 0, 0}},
     .draw = shared_draw,
     .take = shared_take},
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

static int check_integers(const struct generator_kind *kind,
                          const struct generator_parameter *parameter,
                          const struct generator_argument *argument,
                          struct error *error)
{
    if (!argument->integer_count)
        return error_set(error, ERROR_INVALID, "generator %s: %s must not be empty",
                         kind->name, parameter->name);
    for (size_t i = 0; i < argument->integer_count; i++)
        if ((double)argument->integers[i] < parameter->lowest ||
            (double)argument->integers[i] > parameter->highest)
            return error_set(error, ERROR_INVALID,
                             "generator %s: each of %s must be %.15g to %.15g, not "
                             "%lld",
                             kind->name, parameter->name, parameter->lowest,
                             parameter->highest, (long long)argument->integers[i]);
    return 0;
}

static int check_generators(const struct generator_kind *kind,
                            const struct generator_parameter *parameter,
                            const struct generator_argument *argument,
                            struct error *error)
{
    if (argument->generator_count)
        return 0;
    return error_set(error, ERROR_INVALID, "generator %s: %s must not be empty",
                     kind->name, parameter->name);
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

typedef int check_function(const struct generator_kind *kind,
                           const struct generator_parameter *parameter,
                           const struct generator_argument *argument,
                           struct error *error);

static check_function *const checks[] = {
    [PARAMETER_INTEGER] = check_number,       [PARAMETER_REAL] = check_number,
    [PARAMETER_FLAG] = check_number,          [PARAMETER_TEXT] = check_texts,
    [PARAMETER_TEXTS] = check_texts,          [PARAMETER_INTEGERS] = check_integers,
    [PARAMETER_GENERATORS] = check_generators};

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
            status = checks[parameter->type](kind, parameter, &arguments[i], error);
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

static int copy_inner(struct generator *generator, const struct generator *from,
                      struct error *error)
{
    generator->inner = calloc(from->inner_count, sizeof *generator->inner);
    generator->ends = calloc(from->inner_count, sizeof *generator->ends);
    if (!generator->inner || !generator->ends)
        return error_set_memory(error);
    memcpy(generator->ends, from->ends, from->inner_count * sizeof *from->ends);
    for (size_t i = 0; i < from->inner_count; i++)
        if (generator_copy(&generator->inner[i], &from->inner[i], error))
            return -1;
    return 0;
}

int generator_copy(struct generator *copy, const struct generator *from,
                   struct error *error)
{
    struct generator made = *from;

    made.text = NULL;
    made.text_offsets = NULL;
    made.inner = NULL;
    made.ends = NULL;
    if ((from->text && copy_texts(&made, from, error)) ||
        (from->inner && copy_inner(&made, from, error))) {
        generator_fini(&made);
        return -1;
    }
    *copy = made;
    return 0;
}

/* Keep to the worker's part of the range, as do the generators this is made of. */
static void settle_for_worker(struct generator *generator, uint32_t worker,
                              uint32_t workers)
{
    if (generator->partitioned) {
        /* floor(size * worker / workers) without overflow */
        uint64_t size = generator->size;
        uint64_t start = size / workers * worker + size % workers * worker / workers;
        int64_t low = (int64_t)((uint64_t)generator->low + start - 1);
        set_range(generator, low, (int64_t)((uint64_t)low + size / workers));
    }
    for (size_t i = 0; i < generator->inner_count; i++)
        settle_for_worker(&generator->inner[i], worker, workers);
}

int generator_init_worker(struct generator *generator, const struct generator *whole,
                          uint32_t worker, uint32_t workers, struct error *error)
{
    if (generator_copy(generator, whole, error))
        return -1;
    settle_for_worker(generator, worker, workers);
    return 0;
}

void generator_fini(struct generator *generator)
{
    for (size_t i = 0; generator->inner && i < generator->inner_count; i++)
        generator_fini(&generator->inner[i]);
    free(generator->inner);
    free(generator->ends);
    free(generator->text);
    free(generator->text_offsets);
    generator->inner = NULL;
    generator->ends = NULL;
    generator->text = NULL;
    generator->text_offsets = NULL;
}
