/*
 * The kinds of generators that are made of others.
 *
 * A compound owns copies of its generators (`inner`). Those of which one draws at a
 * time must draw the same type, but for NULL, which goes with each.
 */
#include "generator_kind.h"

#include "error.h"

#include <stdlib.h>
#include <string.h>

static bool is_always_null(const struct generator *generator)
{
    return generator->draw == null_draw;
}

/* Copy the generators of `argument`. */
static int keep_inner(struct generator *generator,
                      const struct generator_argument *argument, struct error *error)
{
    size_t count = argument->generator_count;

    generator->inner = calloc(count, sizeof *generator->inner);
    generator->ends = calloc(count, sizeof *generator->ends);
    if (!generator->inner || !generator->ends)
        return error_set_memory(error);
    generator->inner_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct generator *from = &argument->generators[i];
        if (generator_copy(&generator->inner[i], from, error))
            return -1;
        generator->nullable |= from->nullable;
        if (from->ordinal > generator->ordinal)
            generator->ordinal = from->ordinal;
        if (from->capacity > generator->capacity)
            generator->capacity = from->capacity;
    }
    return 0;
}

/* Only where it wraps one generator. */
static int check_one(const struct generator *generator, struct error *error)
{
    if (generator->inner_count == 1)
        return 0;
    return error_set(error, ERROR_INVALID,
                     "generator %s: of must be one generator, not %zu",
                     generator->kind->name, generator->inner_count);
}

/* The bounds of integers that may come from each; none if one of them has none. */
static void unite_bounds(struct generator *generator)
{
    const struct generator *inner = generator->inner;

    generator->bounded = true;
    generator->low = inner[0].low;
    generator->high = inner[0].high;
    for (size_t i = 0; i < generator->inner_count; i++) {
        generator->bounded &=
            inner[i].bounded && !inner[i].partitioned && !inner[i].nullable;
        if (inner[i].low < generator->low)
            generator->low = inner[i].low;
        if (inner[i].high > generator->high)
            generator->high = inner[i].high;
    }
}

/* Take the type that all have which are not always NULL. */
static int unite_results(struct generator *generator, struct error *error)
{
    const struct generator *typed = NULL;

    for (size_t i = 0; i < generator->inner_count; i++) {
        const struct generator *inner = &generator->inner[i];
        if (is_always_null(inner))
            continue;
        if (typed && typed->result != inner->result)
            return error_set(
                error, ERROR_INVALID, "generator %s: %s and %s draw different types",
                generator->kind->name, typed->kind->name, inner->kind->name);
        typed = inner;
    }
    if (typed)
        generator->result = typed->result;
    unite_bounds(generator);
    return 0;
}

/* One of the generators at a time, by weights or numbers of rows. */
static int take_alternatives(struct generator *generator,
                             const struct generator_argument *arguments,
                             struct error *error)
{
    const struct generator_argument *shares = &arguments[0];
    uint64_t sum = 0;

    if (shares->integer_count != arguments[1].generator_count)
        return error_set(error, ERROR_INVALID,
                         "generator %s: there must be as many %s as generators, not "
                         "%zu for %zu",
                         generator->kind->name, generator->kind->parameters[0].name,
                         shares->integer_count, arguments[1].generator_count);
    if (keep_inner(generator, &arguments[1], error))
        return -1;
    for (size_t i = 0; i < generator->inner_count; i++) {
        sum += (uint64_t)shares->integers[i];
        generator->ends[i] = sum;
    }
    generator->size = sum;
    return unite_results(generator, error);
}

/* Which generator a number of 0..size-1 belongs to. */
static size_t find_share(const struct generator *generator, uint64_t number)
{
    size_t i = 0;

    while (number >= generator->ends[i])
        i++;
    return i;
}

int blocks_take(struct generator *generator, const struct generator_argument *arguments,
                struct error *error)
{
    return take_alternatives(generator, arguments, error);
}

void blocks_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
                 struct value *out)
{
    uint64_t round = ordinal / generator->size;
    uint64_t place = ordinal % generator->size;
    size_t i = find_share(generator, place);
    uint64_t start = i ? generator->ends[i - 1] : 0;
    uint64_t own = round * (generator->ends[i] - start) + place - start;

    generator_draw(&generator->inner[i], rng, own, out);
}

int mix_take(struct generator *generator, const struct generator_argument *arguments,
             struct error *error)
{
    return take_alternatives(generator, arguments, error);
}

void mix_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
              struct value *out)
{
    size_t i = find_share(generator, rng_below(rng, generator->size));

    generator_draw(&generator->inner[i], rng, ordinal, out);
}

/* Texts that are never NULL. */
static int check_texts(const struct generator *generator, struct error *error)
{
    for (size_t i = 0; i < generator->inner_count; i++) {
        const struct generator *inner = &generator->inner[i];
        if (inner->result != VALUE_TEXT || inner->nullable)
            return error_set(error, ERROR_INVALID,
                             "generator %s: %s does not always draw a text",
                             generator->kind->name, inner->kind->name);
    }
    return 0;
}

int joined_take(struct generator *generator, const struct generator_argument *arguments,
                struct error *error)
{
    if (keep_inner(generator, &arguments[0], error))
        return -1;
    generator->capacity = 0;
    for (size_t i = 0; i < generator->inner_count; i++)
        generator->capacity += generator->inner[i].capacity;
    return check_texts(generator, error);
}

void joined_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
                 struct value *out)
{
    struct value part = *out;

    out->length = 0;
    for (size_t i = 0; i < generator->inner_count; i++) {
        part.text = out->text + out->length;
        generator_draw(&generator->inner[i], rng, ordinal, &part);
        out->length += part.length;
    }
}

int splice_take(struct generator *generator, const struct generator_argument *arguments,
                struct error *error)
{
    if (keep_inner(generator, &arguments[0], error) || check_one(generator, error) ||
        check_texts(generator, error) ||
        generator_keep_texts(generator, &arguments[1], error))
        return -1;
    generator->of.cut = (uint64_t)arguments[2].integer;
    generator->capacity = generator->inner[0].capacity + generator->text_offsets[1];
    return 0;
}

void splice_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
                 struct value *out)
{
    size_t word = generator->text_offsets[1];
    size_t place, cut, rest;

    generator_draw(&generator->inner[0], rng, ordinal, out);
    place = out->length > word ? (size_t)rng_below(rng, out->length - word + 1) : 0;
    cut = out->length - place;
    if (generator->of.cut < cut)
        cut = (size_t)generator->of.cut;
    rest = out->length - place - cut;
    memmove(out->text + place + word, out->text + place + cut, rest);
    memcpy(out->text + place, generator->text, word);
    out->length = (unsigned long)(place + word + rest);
}

/* A number for a text: FNV-1a. */
static uint64_t hash_text(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001B3);
    return hash;
}

int shared_take(struct generator *generator, const struct generator_argument *arguments,
                struct error *error)
{
    generator->of.key = hash_text(arguments[0].texts[0], arguments[0].text_lengths[0]);
    if (keep_inner(generator, &arguments[1], error) || check_one(generator, error))
        return -1;
    return unite_results(generator, error);
}

void shared_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
                 struct value *out)
{
    const uint64_t words[] = {generator->seed, generator->of.key, ordinal};
    struct rng own;

    (void)rng;
    rng_seed(&own, words, sizeof words / sizeof *words);
    generator_draw(&generator->inner[0], &own, ordinal, out);
}
